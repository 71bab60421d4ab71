/**
 * The script of the pages: searching the operations, and sending one from its form. It is inline and allowed by its
 * hash, so that the pages still load nothing.
 */
export const script = `'use strict';
const root = new URL(document.body.dataset.root, location.href);
const search = document.getElementById('search');
const articles = [...document.querySelectorAll('main article')].map((article) => ({ article, text: article.textContent.toLowerCase() }));
const links = [...document.querySelectorAll('nav details li')];
function find() {
  const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
  let found = 0;
  for (const { article, text } of articles) {
    article.hidden = !words.every((word) => text.includes(word));
    if (!article.hidden) found += 1;
  }
  for (const link of links) link.hidden = document.getElementById(link.firstChild.hash.slice(1)).hidden;
  for (const group of document.querySelectorAll('nav details')) {
    group.hidden = !group.querySelector('li:not([hidden])');
    group.open = words.length > 0 && !group.hidden;
  }
  for (const section of document.querySelectorAll('main section')) section.hidden = words.length > 0 && !section.querySelector('article:not([hidden])');
  document.getElementById('found').textContent = words.length === 0 ? '' : found + ' found';
}
search.addEventListener('input', find);
function valueOf(text, type) {
  if (type === 'integer' || type === 'number') return Number(text);
  if (type === 'boolean') return text === 'true';
  return type === 'object' || type === 'array' ? JSON.parse(text) : text;
}
function requestOf(form) {
  const inputs = [...form.elements].filter((one) => one.name !== '' && (one.type === 'file' ? one.files.length > 0 : one.value !== ''));
  const at = (place) => inputs.filter((one) => one.dataset.in === place);
  let path = form.dataset.path;
  for (const one of at('path')) path = path.replace('{' + one.name + '}', encodeURIComponent(one.value));
  const url = new URL(path.slice(1), root);
  for (const one of at('query')) url.searchParams.append(one.name, one.value);
  const headers = Object.fromEntries(at('header').map((one) => [one.name, one.value]));
  const credential = document.getElementById('credential').value.trim();
  if (credential !== '' && headers.Authorization === undefined) headers.Authorization = 'Bearer ' + credential;
  const { method, type } = form.dataset;
  if (type === '') return [url, { method, headers }];
  const fields = at('body').map((one) => [one.name, one.type === 'file' ? one.files[0] : one.value, one.dataset.type]);
  if (type === 'application/json') {
    headers['Content-Type'] = type;
    return [url, { method, headers, body: JSON.stringify(Object.fromEntries(fields.map(([name, text, kind]) => [name, valueOf(text, kind)]))) }];
  }
  const body = type === 'multipart/form-data' ? new FormData() : new URLSearchParams();
  for (const [name, value] of fields) body.append(name, value);
  return [url, { method, headers, body }];
}
document.addEventListener('submit', async (event) => {
  event.preventDefault();
  const form = event.target;
  const output = form.querySelector('output');
  const button = form.querySelector('button');
  output.textContent = 'waiting for the answer';
  button.disabled = true;
  try {
    const [url, options] = requestOf(form);
    const started = performance.now();
    const response = await fetch(url, { ...options, redirect: 'manual', credentials: 'omit' });
    const text = await response.text();
    let shown = text;
    try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch { /* not JSON: as it is */ }
    const status = response.type === 'opaqueredirect' ? 'a redirect' : 'status ' + response.status;
    output.textContent = options.method + ' ' + url.pathname + url.search + '\\n' + status + ' after ' + Math.round(performance.now() - started) + ' ms\\n\\n' + shown;
  } catch (error) {
    output.textContent = String(error);
  }
  button.disabled = false;
});
`;
