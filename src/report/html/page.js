// Ways around in the page. Everything is there without this script; it hides,
// opens and orders what there is, makes no markup of any text, and keeps
// nothing.
(() => {
  'use strict';

  const root = document.documentElement;
  const main = document.querySelector('main');
  const tools = document.getElementById('tools');
  const search = document.getElementById('search');
  const shown = document.getElementById('shown');
  const order = document.getElementById('order');
  const theme = document.getElementById('theme');
  const levels = [...document.querySelectorAll('#levels input')];
  const findings = [...document.querySelectorAll('.finding')];
  const edits = [...document.querySelectorAll('.edit')];
  const bunches = [...document.querySelectorAll('.bunch')];
  const texts = new WeakMap();

  // --- searching and filtering

  function textOf(element) {
    let text = texts.get(element);
    if (text === undefined) {
      text = element.textContent.toLowerCase();
      texts.set(element, text);
    }
    return text;
  }

  function words() {
    return search.value.toLowerCase().split(/\s+/).filter((word) => word !== '');
  }

  function has(element, wanted) {
    return wanted.length === 0 || wanted.every((word) => textOf(element).includes(word));
  }

  function filterFindings(wanted) {
    const chosen = new Set(levels.filter((box) => box.checked).map((box) => box.value));
    let count = 0;
    for (const finding of findings) {
      const is = chosen.has(finding.dataset.level) && has(finding, wanted);
      finding.hidden = !is;
      count += is ? 1 : 0;
    }
    for (const bunch of main.querySelectorAll('.bunch')) {
      bunch.hidden = bunch.querySelector('.finding:not([hidden])') === null;
    }
    return count;
  }

  // Of an edit that has the words, the groups that have them too; all of its
  // groups where the words are those of the edit itself.
  function filterEdits(wanted) {
    let count = 0;
    for (const edit of edits) {
      const is = has(edit, wanted);
      edit.hidden = !is;
      count += is ? 1 : 0;
      const groups = [...edit.querySelectorAll('.group')];
      const having = groups.filter((group) => has(group, wanted));
      for (const group of groups) {
        group.hidden = having.length > 0 && !having.includes(group) && wanted.length > 0;
      }
    }
    return count;
  }

  function filter() {
    const wanted = words();
    const found = filterFindings(wanted);
    const reached = filterEdits(wanted);
    const isAll = wanted.length === 0 && found === findings.length;
    const parts = [`${found} of ${findings.length} findings`];
    if (edits.length > 0) {
      parts.push(`${reached} of ${edits.length} edits`);
    }
    shown.textContent = isAll ? '' : `${parts.join(' and ')} shown`;
  }

  function showAll() {
    search.value = '';
    for (const box of levels) {
      box.checked = true;
    }
    filter();
  }

  let waiting;
  search.addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 120);
  });
  for (const box of levels) {
    box.addEventListener('change', filter);
  }

  // --- findings by file, or by rule

  const ofFile = new Map(bunches.map((bunch) => [bunch, [...bunch.querySelectorAll('.finding')]]));
  let ofRule;

  function bunchesByRule() {
    const byRule = new Map();
    for (const finding of findings) {
      const rule = finding.dataset.rule;
      byRule.has(rule) ? byRule.get(rule).push(finding) : byRule.set(rule, [finding]);
    }
    const section = document.getElementById('findings');
    return new Map([...byRule.keys()].sort().map((rule) => {
      const bunch = document.createElement('section');
      const title = document.createElement('h3');
      const count = document.createElement('small');
      bunch.className = 'bunch';
      count.textContent = byRule.get(rule).length;
      title.append(rule, ' ', count);
      bunch.append(title);
      section.append(bunch);
      return [bunch, byRule.get(rule)];
    }));
  }

  order.addEventListener('change', () => {
    ofRule ??= bunchesByRule();
    for (const [bunch, all] of order.value === 'rule' ? ofRule : ofFile) {
      bunch.append(...all);
    }
    filter();
  });

  // --- opening and closing

  function setAll(isOpen) {
    for (const details of main.querySelectorAll('details')) {
      details.open = isOpen;
    }
  }
  document.getElementById('open').addEventListener('click', () => setAll(true));
  document.getElementById('close').addEventListener('click', () => setAll(false));

  // Opens what the address leads to, and whatever it is folded into.
  function follow() {
    const target = document.getElementById(location.hash.slice(1));
    if (target === null || !main.contains(target)) {
      return;
    }
    if (target.closest('[hidden]') !== null) {
      showAll();
    }
    for (let at = target; at !== null; at = at.parentElement) {
      if (at instanceof HTMLDetailsElement) {
        at.open = true;
      }
    }
    target.scrollIntoView({ block: 'start' });
    (target.querySelector('summary') ?? target).focus({ preventScroll: true });
  }
  addEventListener('hashchange', follow);
  // A link to where the address leads already is no change of it.
  main.addEventListener('click', (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link !== null && link.hash === location.hash) {
      follow();
    }
  });

  // --- keys, and the theme

  document.addEventListener('keydown', (event) => {
    const isTyping = event.target.matches('input[type="search"], select');
    if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      search.focus();
      search.select();
    } else if (event.key === 'Escape' && event.target === search) {
      showAll();
    }
  });

  const prefersDark = matchMedia('(prefers-color-scheme: dark)');
  function isDark() {
    return root.dataset.theme === undefined ? prefersDark.matches : root.dataset.theme === 'dark';
  }
  function nameTheme() {
    theme.textContent = isDark() ? 'Light' : 'Dark';
  }
  theme.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    nameTheme();
  });
  prefersDark.addEventListener('change', nameTheme);

  addEventListener('beforeprint', () => setAll(true));

  nameTheme();
  tools.hidden = false;
  filter();
  follow();
})();
