// Ways around in the page. All of it can be read without this script, which hides and unfolds
// what there is, makes no markup of any text, and keeps nothing.
(() => {
  'use strict';

  const main = document.querySelector('main');
  const tools = document.getElementById('tools');
  const search = document.getElementById('search');
  const shown = document.getElementById('shown');
  const fold = document.getElementById('fold');
  const choices = [...tools.querySelectorAll('select')];
  const entries = [...main.querySelectorAll('.entry')];
  const findings = [...main.querySelectorAll('.finding')];
  const texts = new WeakMap();

  // --- searching and filtering

  function textOf(part) {
    if (!texts.has(part)) {
      texts.set(part, part.textContent.toLowerCase());
    }
    return texts.get(part);
  }

  // Whether a list such as `0-3 7-7` has a number.
  function has(list, number) {
    return list !== '' && list.split(' ').some((range) => {
      const [start, end] = range.split('-').map(Number);
      return start <= number && number <= end;
    });
  }

  function isChosen(part) {
    return choices.every(({ id, value }) => {
      const of = part.dataset[id];
      return value === '' || (id === 'site' ? has(of, Number(value)) : of.split('|').includes(value));
    });
  }

  function hasWords(part, words) {
    return words.every((word) => textOf(part).includes(word));
  }

  function unfoldAround(part) {
    for (let at = part; at !== null; at = at.parentElement) {
      if (at instanceof HTMLDetailsElement) {
        at.open = true;
      }
    }
  }

  // Of an entry that is shown, the groups that match; all that are chosen where the words are in
  // no group alone.
  function filterGroups(entry, words) {
    const groups = [...entry.querySelectorAll('.group')];
    const chosen = groups.filter(isChosen);
    const found = chosen.filter((group) => hasWords(group, words));
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
    const isFiltered = words.length > 0 || choices.some(({ value }) => value !== '');
    const isKept = (part) => isChosen(part) && hasWords(part, words);
    const counts = [[entries, 'entries'], [findings, 'findings']].map(([parts, name]) => {
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
    shown.textContent = isFiltered ? counts.filter((it) => it !== '').join(', ') : '';
  }

  // The choices that there are not two of are left out.
  function addChoices() {
    for (const choice of choices) {
      if (choice.id !== 'site') {
        const lists = [...entries, ...findings].map((part) => part.dataset[choice.id].split('|'));
        const values = [...new Set(lists.flat())].filter((it) => it !== '').sort();
        choice.append(...values.map((value) => new Option(value, value)));
      }
      choice.hidden = choice.options.length < 3;
    }
  }

  function showAll() {
    search.value = '';
    for (const choice of choices) {
      choice.value = '';
    }
    filter();
  }

  let waiting;
  search.addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 120);
  });
  for (const choice of choices) {
    choice.addEventListener('change', filter);
  }

  // --- unfolding

  function unfoldAll(isOpen) {
    for (const details of main.querySelectorAll('details')) {
      details.open = isOpen;
    }
    fold.setAttribute('aria-pressed', isOpen);
  }
  fold.addEventListener('click', () => unfoldAll(fold.getAttribute('aria-pressed') === 'false'));
  addEventListener('beforeprint', () => unfoldAll(true));

  // Shows the part that the address leads to, whatever it is folded into.
  function follow() {
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
  addEventListener('hashchange', follow);
  // A link to where the address leads already does not change it.
  main.addEventListener('click', (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link !== null && link.hash === location.hash) {
      follow();
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
    }
  });

  tools.hidden = false;
  addChoices();
  filter();
  follow();
})();
