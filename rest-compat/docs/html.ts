import { HOUSE_BAR_STYLE } from '../../platform/pages/house-style.ts';

/** Escapes a text for HTML. */
export function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** Escapes a text for HTML, as code. */
export function code(text: string): string {
  return `<code>${escape(text)}</code>`;
}

/** The stylesheet of the pages about OpenAPI documents, light and dark. */
export const style = `:root{color-scheme:light dark;--line:#e4e4e0;--soft:#efefec;--dim:#53534e;--link:#1d5bd1;--old:#9a3b00;--ours:#3c6111;--get:#0b57a4;--post:#256029;--put:#7a4a00;--delete:#a11d1d}
@media(prefers-color-scheme:dark){:root{--line:#2a2a28;--soft:#20201f;--dim:#b4b4ae;--link:#86b1ff;--old:#ffab70;--ours:#a8d26d;--get:#8ebdf5;--post:#8fd694;--put:#f0c070;--delete:#ff9c9c}}
*{box-sizing:border-box}body{font:15px/1.5 system-ui,sans-serif;margin:0;color:#1a1a18;background:#f7f7f5}
@media(prefers-color-scheme:dark){body{color:#ededea;background:#101010}}
a{color:var(--link)}.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:1rem;background:var(--soft);padding:.5rem}
main,header{max-width:62rem;margin:0 auto;padding:0 1.25rem}nav{padding:0 1.25rem 1rem;border-bottom:1px solid var(--line)}
@media(min-width:80rem){.frame{display:grid;grid-template-columns:22rem minmax(0,1fr)}nav{position:sticky;top:0;height:100vh;overflow:auto;border:0;border-right:1px solid var(--line);padding-top:1rem}}
nav ul{list-style:none;margin:.2rem 0 .6rem;padding-left:.6rem}nav li{font-size:13px;line-height:1.45;margin:.15rem 0;overflow-wrap:anywhere}nav summary{cursor:pointer;font-weight:600}
h2{margin:2.5rem 0 .5rem;border-bottom:2px solid var(--line)}article{margin:1.5rem 0 2.2rem}h3{margin:0 0 .3rem;font-size:1rem;overflow-wrap:anywhere}h4{margin:.8rem 0 .2rem;font-size:.85rem;color:var(--dim)}
code,pre{font:13.5px/1.45 ui-monospace,monospace}h3 code{font-size:15px}pre{background:var(--soft);padding:.6rem .8rem;overflow:auto;margin:.2rem 0;border-radius:4px}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:14px}caption{text-align:left;font-size:.85rem;font-weight:600;color:var(--dim);padding:.5rem 0 .1rem}
td,th{border-top:1px solid var(--line);padding:.3rem .7rem .3rem 0;text-align:left;vertical-align:top}thead th{font-size:13px;color:var(--dim)}tbody th{font-weight:400}
.method{font:700 13px ui-monospace,monospace;display:inline-block;min-width:4.2em}.get{color:var(--get)}.post{color:var(--post)}.put{color:var(--put)}.delete{color:var(--delete)}
[hidden]{display:none!important}input,button{font:inherit;color:inherit;background:transparent;border:1px solid var(--line);border-radius:4px;padding:.25rem .5rem;min-width:0}button{cursor:pointer;background:var(--soft)}
.search{display:block;font-size:14px}.search input{width:100%;max-width:24rem;display:block}nav .search{margin:.8rem 0 .2rem}.try summary{cursor:pointer;font-weight:600;font-size:.85rem;color:var(--link)}.try form{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,15rem),1fr));gap:.6rem;align-items:end;padding:.5rem 0}
.try label{font-size:13px;overflow-wrap:anywhere}.try input{width:100%;display:block}.try output{grid-column:1/-1;white-space:pre-wrap;overflow-wrap:anywhere;font:13.5px/1.45 ui-monospace,monospace;background:var(--soft);border-radius:4px;padding:.6rem .8rem}.try output:empty{display:none}.old{color:var(--old)}.ours{color:var(--ours)}.dim{color:var(--dim)}p{margin:.3rem 0}
${HOUSE_BAR_STYLE}header.house{max-width:none;margin:0}`;

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
function readValue(text, type) {
  if (type === 'integer' || type === 'number') return Number(text);
  if (type === 'boolean') return text === 'true';
  return type === 'object' || type === 'array' ? JSON.parse(text) : text;
}
function readRequest(form) {
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
    return [url, { method, headers, body: JSON.stringify(Object.fromEntries(fields.map(([name, text, kind]) => [name, readValue(text, kind)]))) }];
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
    const [url, options] = readRequest(form);
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
