// Search, filters and navigation. The page is complete without this script, which only hides and
// unfolds elements; it creates no markup from strings and stores nothing.
(() => {
  'use strict';

  const main = document.querySelector('main');
  const tools = document.getElementById('tools');
  const search = document.getElementById('search');
  const shown = document.getElementById('shown');
  const fold = document.getElementById('fold');
  const filters = [...tools.querySelectorAll('select')];
  const entries = [...main.querySelectorAll('.entry')];
  const findings = [...main.querySelectorAll('.finding')];
  const rows = [...main.querySelectorAll('table.sites tbody tr')];
  const texts = new WeakMap();

  // --- search and filters

  function textOf(part) {
    if (!texts.has(part)) {
      texts.set(part, part.textContent.toLowerCase());
    }
    return texts.get(part);
  }

  // Whether a list of ranges such as `0-3 7-7` contains a number.
  function has(list, number) {
    return list !== '' && list.split(' ').some((range) => {
      const [start, end] = range.split('-').map(Number);
      return start <= number && number <= end;
    });
  }

  // Whether a part has a value of each filter; rows of the site table and actions have only sites.
  function matchesFilters(part) {
    return filters.every(({ id, value }) => {
      const data = part.dataset[id];
      return value === '' || data === undefined || (id === 'site' ? has(data, Number(value)) : data.split('|').includes(value));
    });
  }

  function matchesSearch(part, words) {
    return words.every((word) => textOf(part).includes(word));
  }

  function unfoldAround(part) {
    for (let at = part; at !== null; at = at.parentElement) {
      if (at instanceof HTMLDetailsElement) {
        at.open = true;
      }
    }
  }

  // Shows the groups of a visible entry that match the filters and the search; if no single group
  // matches the search, all that match the filters.
  function filterGroups(entry, words) {
    const groups = [...entry.querySelectorAll('.group')];
    const chosen = groups.filter(matchesFilters);
    const found = chosen.filter((group) => matchesSearch(group, words));
    const kept = new Set(found.length > 0 ? found : chosen);
    for (const group of groups) {
      group.hidden = !kept.has(group);
      if (kept.has(group) && kept.size < groups.length) {
        unfoldAround(group.parentElement);
      }
    }
  }

  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter((word) => word !== '');
    const isFiltered = words.length > 0 || filters.some(({ value }) => value !== '');
    const isKept = (part) => matchesFilters(part) && matchesSearch(part, words);
    const lists = [[rows, 'rows of sites'], [entries, 'entries'], [findings, 'findings']];
    const counts = lists.map(([parts, name]) => {
      const kept = parts.filter((part) => {
        part.hidden = !isKept(part);
        return !part.hidden;
      });
      return parts.length === 0 ? '' : `${kept.length} of ${parts.length} ${name}`;
    });
    for (const entry of entries.filter((it) => !it.hidden)) {
      filterGroups(entry, words);
    }
    for (const part of main.querySelectorAll('.file, .listed')) {
      part.hidden = part.querySelector('.entry:not([hidden]), .finding:not([hidden])') === null;
    }
    counted = isFiltered ? counts.filter((it) => it !== '').join(', ') : '';
    shown.textContent = counted;
    hit = -1;
    writeAddress();
  }

  // --- hits of the search

  // Index of the hit that is shown, and the text before its number.
  let hit = -1;
  let counted = '';

  // Shows the next or the previous part that the search and the filters keep.
  function jump(step) {
    const hits = [...rows, ...entries, ...findings].filter((part) => part.closest('[hidden]') === null);
    if (search.value.trim() === '' || hits.length === 0) {
      return;
    }
    hit = (hit + step + hits.length + (hit < 0 && step < 0 ? 1 : 0)) % hits.length;
    const part = hits[hit];
    unfoldAround(part.parentElement);
    for (const other of main.querySelectorAll('.hit')) {
      other.classList.remove('hit');
    }
    part.classList.add('hit');
    part.scrollIntoView({ block: 'center' });
    shown.textContent = `${counted}, hit ${hit + 1} of ${hits.length}`;
  }

  // --- search and filters in the address, so that a link shows the same parts

  function writeAddress() {
    const params = new URLSearchParams();
    if (search.value !== '') {
      params.set('search', search.value);
    }
    for (const { id, value, selectedOptions } of filters.filter(({ value }) => value !== '')) {
      params.set(id, selectedOptions[0].text);
    }
    const query = params.toString();
    try {
      history.replaceState(null, '', (query === '' ? location.pathname : `?${query}`) + location.hash);
    } catch {
      // A page inside of another one may have no address of its own.
    }
  }

  function readAddress() {
    const params = new URLSearchParams(location.search);
    search.value = params.get('search') ?? '';
    for (const control of filters) {
      const option = [...control.options].find(({ text }) => text === params.get(control.id));
      control.value = option === undefined ? '' : option.value;
    }
  }

  // Adds the filter options, and hides filters with fewer than two values.
  function addFilterOptions() {
    for (const control of filters) {
      if (control.id !== 'site') {
        const lists = [...entries, ...findings].map((part) => (part.dataset[control.id] ?? '').split('|'));
        const values = [...new Set(lists.flat())].filter((it) => it !== '').sort();
        control.append(...values.map((value) => new Option(value, value)));
      }
      control.hidden = control.options.length < 3;
    }
  }

  function showAll() {
    search.value = '';
    for (const control of filters) {
      control.value = '';
    }
    filter();
  }

  let searchTimer;
  search.addEventListener('input', () => {
    clearTimeout(searchTimer);
    searchTimer = setTimeout(() => {
      filter();
      jump(1);
    }, 120);
  });
  for (const control of filters) {
    control.addEventListener('change', filter);
  }

  // --- folding

  function unfoldAll(isOpen) {
    for (const details of main.querySelectorAll('details')) {
      details.open = isOpen;
    }
    fold.setAttribute('aria-pressed', isOpen);
  }
  fold.addEventListener('click', () => unfoldAll(fold.getAttribute('aria-pressed') === 'false'));
  addEventListener('beforeprint', () => unfoldAll(true));

  // Shows the target of the URL fragment and unfolds its ancestors.
  function showTarget() {
    const target = document.getElementById(location.hash.slice(1));
    if (target === null || !main.contains(target)) {
      return;
    }
    if (target.closest('[hidden]') !== null) {
      showAll();
    }
    unfoldAround(target);
    const details = target.querySelector('details');
    if (details !== null && target.matches('.finding, [id^="rule-"]')) {
      details.open = true;
    }
    target.scrollIntoView({ block: 'start' });
    target.focus({ preventScroll: true });
  }
  addEventListener('hashchange', showTarget);
  // A link to the current fragment triggers no `hashchange` event.
  main.addEventListener('click', (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link !== null && link.hash === location.hash) {
      showTarget();
    }
  });

  document.addEventListener('keydown', (event) => {
    const isTyping = event.target.matches('input, select');
    if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      search.focus();
      search.select();
    } else if (event.key === 'Escape' && event.target === search) {
      showAll();
    } else if (event.key === 'Enter' && event.target === search) {
      event.preventDefault();
      clearTimeout(searchTimer);
      if (hit < 0) {
        filter();
      }
      jump(event.shiftKey ? -1 : 1);
    }
  });

  tools.hidden = false;
  addFilterOptions();
  readAddress();
  filter();
  showTarget();
})();
