import { fireEvent, waitFor } from '@testing-library/preact';

/** What a user does on a page: presses, writes, chooses. By names, in far less time than by roles. */

/** A name, or what it is like. */
type Name = string | RegExp;

const BUTTON = 'button, a, summary';
const FIELD = 'input, textarea, select';

/** What an element is called. */
function readName(element: Element): string {
  const { id } = element;
  const label = id === '' ? null : document.querySelector(`label[for="${CSS.escape(id)}"]`);
  const around = element.matches(FIELD) ? element.closest('label') : element;
  const name = element.getAttribute('aria-label') ?? (label ?? around)?.textContent ?? '';
  return name.trim();
}

/** Those of a selector that have this name; what lies over the page is last. */
export function all(selector: string, name: Name, place: ParentNode = document): readonly HTMLElement[] {
  return [...place.querySelectorAll<HTMLElement>(selector)].filter((each) =>
    typeof name === 'string' ? readName(each) === name : name.test(readName(each)),
  );
}

/** The last of a selector that has this name, once it is there. */
export function find<Found extends HTMLElement = HTMLElement>(
  selector: string,
  name: Name,
  place: ParentNode = document,
): Promise<Found> {
  return waitFor(() => {
    const found = all(selector, name, place).at(-1);
    if (found === undefined) throw new Error(`there is no ${selector} called ${String(name)}`);
    return found as Found;
  });
}

/** What the page has of a selector, once it has it. */
export function shown<Found extends HTMLElement = HTMLElement>(selector: string): Promise<Found> {
  return find(selector, /(?:)/);
}

/** Until the page has nothing of a selector. */
export async function gone(selector: string): Promise<void> {
  await waitFor(() => {
    if (document.querySelector(selector) !== null) throw new Error(`there is ${selector}`);
  });
}

/** Presses a button or a link, once it is there. */
export async function press(name: Name, place?: ParentNode): Promise<void> {
  fireEvent.click(await find(BUTTON, name, place));
}

/** Writes into a field in place of what it held. */
export async function write(name: Name, value: string, place?: ParentNode): Promise<HTMLInputElement> {
  const field = await find<HTMLInputElement>(FIELD, name, place);
  fireEvent.input(field, { target: { value } });
  return field;
}

/** Chooses from a list, or ticks a box: both fire a change event. */
export async function choose(name: Name, value: string, place?: ParentNode): Promise<void> {
  const field = await find<HTMLSelectElement>('select, input', name, place);
  field.value = value;
  fireEvent(field, new Event('change', { bubbles: true }));
}

/** Sends a form, or that which a field is in, by the Enter key as it were; the page must not be left for it. */
export function submit(element: Element | null | undefined): void {
  const form = element?.closest('form');
  if (form === null || form === undefined) throw new Error('there is no form');
  if (fireEvent.submit(form)) throw new Error('the browser leaves the page with its form');
}

/** Presses a key where the focus is, or elsewhere. Answers whether the page has taken it. */
export function key(
  name: string,
  init: KeyboardEventInit = {},
  target: EventTarget = document.body,
): boolean {
  const event = new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true, ...init });
  fireEvent(target as Element, event);
  return event.defaultPrevented;
}

/** Makes the window so wide. Its members are not set by hand: they would stay for all tests after this one. */
export function resizeTo(width: number): void {
  const page = window as unknown as { readonly happyDOM: { setViewport(size: object): void } };
  page.happyDOM.setViewport({ width, height: 768 });
}
