/** How pages outside the console look: its colours and type in both themes, its mark, one column. No scripts, nothing loaded. */

/** The bar of `houseBar`, for pages with a stylesheet of their own that has --line and --link. */
export const HOUSE_BAR_STYLE = `.house{display:flex;align-items:center;gap:8px;height:56px;padding:0 24px;border-bottom:1px solid var(--line);font-weight:600}
.house a{color:inherit;text-decoration:none;display:flex;align-items:center;gap:8px}.house .back{margin-left:auto;font-weight:400;color:var(--link)}`;

/** The console's colours, as far as other pages need them; each stands once. */
export const LIGHT = {
  bg: '#f7f7f5',
  surface: '#ffffff',
  line: '#e4e4e0',
  strong: '#8b8b85',
  text: '#1a1a18',
  dim: '#53534e',
  hover: '#f1f1ee',
  ink: '#1a1a18',
  'on-ink': '#ffffff',
  link: '#1d5bd1',
};
export const DARK = {
  bg: '#101010',
  surface: '#181817',
  line: '#2a2a28',
  strong: '#73736d',
  text: '#ededea',
  dim: '#b4b4ae',
  hover: '#222221',
  ink: '#ededea',
  'on-ink': '#141413',
  link: '#86b1ff',
};

/** The colours as variables of a page, in both themes. */
export const HOUSE_COLOURS = `:root{color-scheme:light dark;${toVariables(LIGHT)}}
@media(prefers-color-scheme:dark){:root{${toVariables(DARK)}}}`;

function toVariables(colours: Readonly<Record<string, string>>): string {
  return Object.entries(colours)
    .map(([name, colour]) => `--${name}:${colour}`)
    .join(';');
}

/** The style of small pages. */
export const HOUSE_STYLE = `${HOUSE_COLOURS}
*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--text);font:14px/20px system-ui,-apple-system,"Segoe UI",Roboto,"PingFang SC","Microsoft YaHei","Noto Sans SC",sans-serif;overflow-wrap:anywhere}
${HOUSE_BAR_STYLE}
main{margin:0 auto;padding:32px 24px;max-width:440px}h1{font-size:20px;line-height:28px;margin:0 0 12px}h2{font-size:16px;line-height:24px}
a{color:var(--link)}small,.dim{color:var(--dim);font-size:12px;line-height:16px}
button{display:block;width:100%;min-height:40px;margin:8px 0;padding:8px 12px;font:inherit;font-weight:500;text-align:inherit;color:var(--text);background:var(--surface);border:1px solid var(--line);border-radius:6px;cursor:pointer}
button:hover{background:var(--hover)}button.pri{background:var(--ink);border-color:var(--ink);color:var(--on-ink);text-align:center}
:focus-visible{outline:2px solid var(--link);outline-offset:2px}`;

const SHAPES =
  '<path d="M2.5 18V9.5a7.5 7.5 0 0 1 15 0V18Z" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linejoin="round"/><path d="M6.5 18v-4.2a3.5 3.5 0 0 1 7 0V18Z" fill="#e5640f"/>';
const MARK = `<svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">${SHAPES}</svg>`;
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20"><style>svg{color:${LIGHT.text}}@media(prefers-color-scheme:dark){svg{color:${DARK.text}}}</style>${SHAPES}</svg>`;

/** The mark as the icon of a page whose policy allows images from its own site: browsers ask for /favicon.ico without one. Needs `img-src data:`. */
export const HOUSE_ICON = `<link rel="icon" type="image/svg+xml" href="data:image/svg+xml,${encodeURIComponent(ICON)}">`;

/** The bar at the head of a page: the mark, what the page belongs to, and a way back where there is one. Both are our own texts. */
export function houseBar(name: string, back?: { readonly href: string; readonly label: string }): string {
  const way = back === undefined ? '' : `<a class="back" href="${back.href}">${back.label}</a>`;
  return `<header class="house">${MARK}<span>${name}</span>${way}</header>`;
}
