/** What a page is, as text: its elements one below the other, what they are called, hold and lead to, and the state they are in. */

/** Attributes that are made anew with each drawing, or tell nothing. */
const LEFT_OUT =
  /^(id|for|aria-(controls|labelledby|describedby|owns)|data-base-ui.*|xmlns|value|checked|class|viewBox|stroke.*|fill)$/;
/** Shapes of icons, and what is not shown. */
const SKIPPED = new Set(['path', 'circle', 'rect', 'line', 'polyline', 'polygon', 'style', 'script']);

/** The outline of an element and of all within it; by default of what the page shows beside its navigation. */
export function outline(element: Element | null = document.querySelector('main'), indent = ''): string {
  const name = element?.tagName.toLowerCase() ?? '';
  if (element === null || SKIPPED.has(name)) return '';
  const attributes = [...element.attributes]
    .filter((one) => !LEFT_OUT.test(one.name))
    .map((one) => (one.value === '' ? one.name : `${one.name}=${JSON.stringify(one.value)}`))
    .toSorted();
  const line = [name + hashClasses(element), ...attributes, ...describeState(element)].join(' ');
  const inner = [...element.childNodes].map((node) => {
    if (node instanceof Element) return outline(node, `${indent}  `);
    const text = node.nodeType === Node.TEXT_NODE ? (node.textContent ?? '') : '';
    return text.trim() === '' ? '' : `${indent}  ${JSON.stringify(text)}\n`;
  });
  return `${indent}${line}\n${inner.join('')}`;
}

/** A hash of an element's classes: an outline shows that they change, not a hundred letters of them. */
function hashClasses(element: Element): string {
  const classes = element.getAttribute('class') ?? '';
  if (classes === '') return '';
  let sum = 0;
  for (const letter of classes) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 0xffff;
  return `.${sum.toString(16).padStart(4, '0')}`;
}

/** What a field has beside its attributes. */
function describeState(element: Element): readonly string[] {
  const { value, checked, type } = element as Partial<HTMLInputElement>;
  if (type === 'checkbox' || type === 'radio') return checked === true ? ['ticked'] : [];
  const isField = element.matches('input, textarea, select');
  return isField && value !== undefined && value !== '' ? [`holds=${JSON.stringify(value)}`] : [];
}
