import { act, fireEvent, render, screen, waitFor } from '@testing-library/preact';
import { afterEach, expect, it, vi } from 'vitest';

import { outline } from '../../testing/outline.ts';
import { t } from '../../text/text.ts';
import { isOldBuild } from './build.ts';
import { later, laterPage, useIncrementalCount } from './later.tsx';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  sessionStorage.clear();
  document.body.replaceChildren();
  document.head.querySelector('script[src]')?.remove();
});

const lost = () => Promise.reject(new TypeError('failed to fetch'));
const answer = (page: string, init?: ResponseInit) =>
  vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response(page, init));
/** This page, and the one of the server, with its own script. */
const serve = (own: string | null, served: string | null, init?: ResponseInit) => {
  if (own !== null) {
    const script = document.createElement('script');
    script.type = 'module';
    // As it stands in the page; it is not run here.
    script.setAttribute('src', own);
    Object.defineProperty(script, 'isConnected', { value: false });
    vi.spyOn(document, 'querySelector').mockImplementation((selector) =>
      selector === 'script[type=module][src]' ? script : null,
    );
  }
  answer(served === null ? '<title>Kiln</title>' : `<script type="module" src="${served}"></script>`, init);
};

/** Until so many timers run: effects begin and end in turns of their own. */
const hasTimers = async (count: number) => {
  while (vi.getTimerCount() !== count) await new Promise((resolve) => setTimeout(resolve));
};

/** As long as the turns take in which effects end, and in which something would be asked for again. */
const someTurns = async () => {
  for (const _ of Array.from({ length: 20 })) await new Promise((resolve) => setTimeout(resolve));
};

it.each([
  ['the same', '/assets/index-a.js', '/assets/index-a.js', {}, false],
  ['the same elsewhere', '/assets/index-a.js', '/other/index-a.js', {}, false],
  ['another', '/assets/index-a.js', '/assets/index-b.js', {}, true],
  ['none', '/assets/index-a.js', null, {}, false],
  ['not asked for', '/assets/index-a.js', '/assets/index-b.js', { status: 503 }, false],
])('the console of the server is newer where its script is: %s', async (_, own, served, init, isOld) => {
  serve(own, served, init);
  expect(await isOldBuild()).toBe(isOld);
  expect(fetch).toHaveBeenCalledWith(document.baseURI, { cache: 'no-store' });
});

it('nobody knows of a newer console without a network', async () => {
  expect(await isOldBuild()).toBe(false);
});

it('a page that is loaded slowly has a skeleton in its place', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let load: (part: () => unknown) => void = () => undefined;
  const Part = laterPage(() => new Promise((resolve) => (load = resolve as never)));
  render(<Part />);
  await act(async () => void (await vi.advanceTimersByTimeAsync(199)));
  await expect(outline(document.body)).toMatchFileSnapshot('outlines/loading.txt');
  await act(async () => void (await vi.advanceTimersByTimeAsync(1)));
  await expect(outline(document.body)).toMatchFileSnapshot('outlines/loading-slowly.txt');
  vi.useRealTimers();
  load(() => <p>here</p>);
  expect(await screen.findByText('here')).toBeDefined();
});

it('code that was loaded is drawn at once, once it is prepared, and loaded once', async () => {
  const load = vi.fn<() => Promise<() => null | React.ReactElement>>(async () => () => <p>here</p>);
  const Part = later(load);
  Part.prepare();
  await waitFor(() => expect(load).toHaveBeenCalledOnce());
  // The turn in which it is kept.
  await new Promise((resolve) => setTimeout(resolve));
  render(<Part />);
  expect(screen.getByText('here')).toBeDefined();
  Part.prepare();
  await new Promise((resolve) => setTimeout(resolve));
  expect(load).toHaveBeenCalledOnce();
});

it('what can not be prepared is said where it is drawn, and to whoever wants to know', async () => {
  answer('<title>Kiln</title>');
  const onFailed = vi.fn<() => void>();
  const Part = later(lost, { onFailed });
  Part.prepare();
  render(<Part />);
  await screen.findByText(t('page.notLoaded'));
  expect(onFailed).toHaveBeenCalledOnce();
  await expect(outline(document.body)).toMatchFileSnapshot('outlines/not-loaded.txt');
});

it('draws nothing in its place unless something is said', () => {
  const Part = later(() => new Promise<never>(() => undefined));
  const { container } = render(<Part />);
  expect(container.textContent).toBe('');
});

it('the page is loaded anew where the server has another console', async () => {
  const reload = vi.spyOn(location, 'reload').mockReturnValue();
  const Part = later(lost);
  render(<Part />);
  serve('/assets/index-a.js', '/assets/index-b.js');
  await waitFor(() => expect(reload).toHaveBeenCalledOnce());
  vi.restoreAllMocks();
  expect(screen.queryByText(t('page.notLoaded'))).toBeNull();
});

it('does not load the page anew for what nobody waits for any more', async () => {
  const reload = vi.spyOn(location, 'reload').mockReturnValue();
  const onFailed = vi.fn<() => void>();
  const Part = later(lost, { onFailed });
  serve('/assets/index-a.js', null);
  let answerLate: (page: Response) => void = () => undefined;
  const late = new Promise<Response>((resolve) => (answerLate = resolve));
  const asked = vi.spyOn(globalThis, 'fetch').mockReturnValue(late);
  const { unmount } = render(<Part />);
  await waitFor(() => expect(asked).toHaveBeenCalled());
  unmount();
  await someTurns();
  answerLate(new Response('<script type="module" src="/assets/index-b.js"></script>'));
  await someTurns();
  expect([reload.mock.calls, onFailed.mock.calls]).toEqual([[], []]);
});

it('does not load the page anew over and over where that does not help', async () => {
  const reload = vi.spyOn(location, 'reload').mockReturnValue();
  const now = vi.spyOn(Date, 'now').mockReturnValue(100_000);
  serve('/assets/index-a.js', '/assets/index-b.js');
  const Part = later(lost);
  const open = () => render(<Part />).unmount;
  let close = open();
  await waitFor(() => expect(reload).toHaveBeenCalledOnce());
  close();
  now.mockReturnValue(159_999);
  close = open();
  await screen.findByText(t('page.notLoaded'));
  dispatchEvent(new Event('online'));
  close();
  expect(reload).toHaveBeenCalledOnce();
  now.mockReturnValue(160_000);
  open();
  await waitFor(() => expect(reload).toHaveBeenCalledTimes(2));
});

it('is asked for once, and not over and over while it can not be loaded', async () => {
  const asked = answer('<title>Kiln</title>');
  const load = vi.fn<() => Promise<never>>(lost);
  const Part = later(load);
  render(<Part />);
  await screen.findByText(t('page.notLoaded'));
  await someTurns();
  expect([load.mock.calls.length, asked.mock.calls.length]).toEqual([1, 1]);
});

it('is tried again by a press, when the network is back, and after a while', async () => {
  const reload = vi.spyOn(location, 'reload').mockReturnValue();
  const asked = answer('', { status: 503 });
  const Part = later(lost);
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const { unmount } = render(<Part />);
  fireEvent.click(await screen.findByText(t('page.tryAgain')));
  expect(reload).toHaveBeenCalledOnce();
  await hasTimers(1);
  asked.mockClear();
  await vi.advanceTimersByTimeAsync(2_999);
  expect(asked).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(asked).toHaveBeenCalledExactlyOnceWith(document.baseURI, { method: 'HEAD', cache: 'no-store' });
  // It is not there yet.
  expect(reload).toHaveBeenCalledOnce();
  asked.mockImplementation(lost);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(reload).toHaveBeenCalledOnce();
  asked.mockImplementation(async () => new Response(''));
  dispatchEvent(new Event('online'));
  await vi.waitFor(() => expect(reload).toHaveBeenCalledTimes(2));
  unmount();
  await hasTimers(0);
  asked.mockClear();
  dispatchEvent(new Event('online'));
  expect(asked).not.toHaveBeenCalled();
});

it('parts are drawn a few in each turn', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const Parts = ({ all, first }: { readonly all: number; readonly first?: number }) => (
    <p>{useIncrementalCount(all, 2, first)}</p>
  );
  const { rerender, unmount } = render(<Parts all={5} />);
  const drawn = () => document.querySelector('p')?.textContent;
  const turn = () => void act(() => void vi.runOnlyPendingTimers());
  expect(drawn()).toBe('2');
  turn();
  expect(drawn()).toBe('4');
  turn();
  expect(drawn()).toBe('6');
  turn();
  expect(drawn()).toBe('6');
  rerender(<Parts all={7} />);
  turn();
  expect(drawn()).toBe('8');
  unmount();
  render(<Parts all={2} first={0} />);
  expect(drawn()).toBe('0');
  turn();
  turn();
  expect(drawn()).toBe('2');
});
