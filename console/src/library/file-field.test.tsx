import { fireEvent, render, waitFor } from '@testing-library/preact';
import { useState } from 'react';
import { afterEach, expect, it, vi } from 'vitest';

import { kiln, type StoredFile } from '../api/kiln.ts';
import { outline } from '../testing/outline.ts';
import { holdUploads, type Upload } from '../testing/uploads.ts';
import { all, press, shown } from '../testing/use.ts';
import { AnyFileField, FileField } from './file-field.tsx';

afterEach(() => vi.unstubAllGlobals());

const stored = (id: string, contentType = 'image/png'): StoredFile => ({
  id,
  url: `/files/${id}`,
  contentType,
  bytes: 4,
});
const PNG = '\x89PNG';
const bytes = (text: string) => Uint8Array.from(text, (letter) => letter.codePointAt(0) ?? 0);
const image = (name: string) => new File([bytes(PNG)], name, { type: 'image/png' });

interface Options {
  readonly files?: readonly StoredFile[];
  readonly most?: number;
  readonly listed?: boolean;
  readonly accept?: string;
}

function open({ files = [], most = 3, accept = 'image/*', ...options }: Options = {}) {
  const changes: (readonly string[])[] = [];
  const uploads = holdUploads();
  function Field() {
    const [held, setHeld] = useState(files);
    const change = (next: readonly StoredFile[]) => {
      changes.push(next.map(({ id }) => id));
      setHeld(next);
    };
    return (
      <FileField label="Images" accept={accept} most={most} files={held} onChange={change} {...options} />
    );
  }
  const { container, unmount } = render(<Field />);
  const input = container.querySelector('input[type=file]') as HTMLInputElement;
  const choose = (...chosen: readonly File[]) => {
    Object.defineProperty(input, 'files', { value: chosen, configurable: true });
    fireEvent(input, new Event('input', { bubbles: true }));
    fireEvent(input, new Event('change', { bubbles: true }));
  };
  const sent = (count: number) =>
    waitFor((): Upload => {
      const upload = uploads[count - 1];
      if (upload === undefined) throw new Error(`${uploads.length} were sent`);
      return upload;
    });
  return { changes, uploads, container, unmount, input, choose, sent };
}
const problem = async () => (await shown('[role=alert]')).textContent;

it('shows its files, which are taken out again', async () => {
  const { container, changes } = open({ files: [stored('one'), stored('film', 'video/mp4')] });
  await expect(outline(container)).toMatchFileSnapshot('outlines/file-field.txt');
  fireEvent.click(all('button', 'Remove the file')[0] as HTMLElement);
  await waitFor(() => expect(changes).toEqual([['film']]));
});

it('has no room for more than it may have', async () => {
  const { container, input } = open({ files: [stored('one')], most: 1 });
  expect([input.multiple, input.disabled]).toEqual([false, true]);
  await expect(outline(container)).toMatchFileSnapshot('outlines/file-field-full.txt');
});

it('sends one file after the other, says how far, and takes all of them', async () => {
  const { choose, sent, uploads, changes, container, input } = open({ files: [stored('old')] });
  expect([input.multiple, input.disabled]).toEqual([true, false]);
  choose(image('a.png'), image('b.png'));
  const first = await sent(1);
  expect(first.operations.variables).toEqual({ file: null, temporary: false, listed: true });
  first.send(41);
  await waitFor(() =>
    expect(container.querySelector('[role=progressbar]')?.getAttribute('aria-valuenow')).toBe('41'),
  );
  await expect(outline(container)).toMatchFileSnapshot('outlines/file-field-sends.txt');
  expect(uploads).toHaveLength(1);
  first.store('a');
  const second = await sent(2);
  await waitFor(() =>
    expect(container.querySelector('[role=progressbar]')?.getAttribute('aria-valuenow')).toBe('0'),
  );
  second.store('b');
  await waitFor(() => expect(changes).toEqual([['old', 'a', 'b']]));
  expect(container.querySelector('[role=progressbar]')).toBeNull();
  expect(container.querySelector('[role=alert]')).toBeNull();
});

it('keeps from the gallery what is not for it', async () => {
  const { choose, sent } = open({ listed: false });
  choose(image('a.png'));
  expect((await sent(1)).operations.variables['listed']).toBe(false);
});

it('sends what there is room for, and says that it was too much', async () => {
  const { choose, sent, changes } = open({ files: [stored('old')], most: 2 });
  choose(image('a.png'), image('b.png'));
  expect(await problem()).toBe('This takes no more files.');
  (await sent(1)).store('a');
  await waitFor(() => expect(changes).toEqual([['old', 'a']]));
});

it('keeps what was sent before one that fails, and says why', async () => {
  const { choose, sent, changes } = open();
  choose(image('a.png'), image('b.png'), image('c.png'));
  (await sent(1)).store('a');
  (await sent(2)).refuse('TOO_LARGE');
  await waitFor(() => expect(changes).toEqual([['a']]));
  expect(await problem()).not.toBe('');
});

it('tells programs in a browser when an upload may be sent again', async () => {
  const uploads = holdUploads();
  const upload = kiln.upload(image('a.png'));
  await waitFor(() => expect(uploads).toHaveLength(1));
  uploads[0]?.refuse('RATE_LIMITED', 7);
  await expect(upload).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfter: 7 });
});

it('is cancelled without a word, by its button or when it is left', async () => {
  const { choose, sent, changes, container, unmount } = open();
  choose(image('a.png'));
  const upload = await sent(1);
  await press('Cancel');
  await waitFor(() => expect(container.querySelector('[role=progressbar]')).toBeNull());
  expect([upload.isAborted(), changes.length, container.querySelector('[role=alert]')]).toEqual([
    true,
    0,
    null,
  ]);
  choose(image('a.png'));
  const again = await sent(2);
  unmount();
  await waitFor(() => expect(again.isAborted()).toBe(true));
});

it.each([
  ['nothing', new File([], 'empty.png', { type: 'image/png' }), 'empty.png is empty.'],
  [
    'another kind',
    new File([bytes('OggS')], 'a.ogg', { type: 'audio/ogg' }),
    'This takes only Images, application/pdf.',
  ],
  [
    'a text',
    new File(['words'], 'a.txt', { type: 'text/plain' }),
    'This takes only Images, application/pdf.',
  ],
  [
    'what is not what it says',
    new File([bytes(PNG)], 'a.mp4', { type: 'video/mp4' }),
    'a.mp4 is not what its name says. Choose another file.',
  ],
])('does not send %s, and says why', async (_, file, why) => {
  const { choose, sent, uploads } = open({ accept: 'image/*,application/pdf' });
  choose(file);
  expect(await problem()).toBe(why);
  expect(uploads).toHaveLength(0);
  choose(file, image('a.png'));
  await sent(1);
  expect(await problem()).toBe(why);
});

it('takes what is dropped, and shows where', async () => {
  const { container, sent } = open();
  const place = container.querySelector('[class*=flex-wrap]') as HTMLElement;
  const add = () => all('button', 'Drop, paste or choose')[0]?.className;
  const drag = (type: string) => {
    const event = Object.assign(new Event(type, { bubbles: true, cancelable: true }), {
      dataTransfer: { files: [image('a.png')] },
    });
    const above = vi.fn<() => void>();
    document.addEventListener(type, above, { once: true });
    fireEvent(place, event);
    document.removeEventListener(type, above);
    return [event.defaultPrevented, above.mock.calls.length];
  };
  const plain = add();
  expect(drag('dragover')).toEqual([true, 1]);
  await waitFor(() => expect(add()).not.toBe(plain));
  drag('dragleave');
  await waitFor(() => expect(add()).toBe(plain));
  drag('dragover');
  expect(drag('drop')).toEqual([true, 0]);
  expect((await sent(1)).file.name).toBe('a.png');
});

it('keeps what is taken out or chosen while it sends, and sends what comes meanwhile after it', async () => {
  const { choose, sent, uploads, changes } = open({ files: [stored('old')] });
  choose(image('a.png'));
  const first = await sent(1);
  choose(image('b.png'), image('c.png'), image('d.png'));
  fireEvent.click(all('button', 'Remove the file')[0] as HTMLElement);
  await waitFor(() => expect(changes).toEqual([[]]));
  expect(uploads).toHaveLength(1);
  first.store('a');
  (await sent(2)).store('b');
  (await sent(3)).store('c');
  await waitFor(() => expect(changes.slice(1)).toEqual([['a'], ['a', 'b', 'c']]));
  expect(await problem()).toBe('This takes no more files.');
});

it('cancels what waits as well', async () => {
  const { choose, sent, uploads, container } = open();
  choose(image('a.png'));
  await sent(1);
  choose(image('b.png'));
  await press('Cancel');
  await waitFor(() => expect(container.querySelector('[role=progressbar]')).toBeNull());
  choose(image('c.png'));
  expect((await sent(2)).file.name).toBe('c.png');
  expect(uploads).toHaveLength(2);
});

it('says that a file can not be read, such as a folder, and sends the others', async () => {
  const { choose, sent } = open();
  const folder = image('folder.png');
  const unreadable = new Blob([]);
  unreadable.arrayBuffer = () => Promise.reject(new DOMException('a folder', 'NotReadableError'));
  vi.spyOn(folder, 'slice').mockReturnValue(unreadable);
  choose(folder, image('a.png'));
  expect((await sent(1)).file.name).toBe('a.png');
  expect(await problem()).toBe('folder.png could not be read.');
});

it('opens the choice of the browser by its button', () => {
  const { input } = open();
  const click = vi.spyOn(input, 'click').mockImplementation(() => undefined);
  fireEvent.click(all('button', 'Drop, paste or choose')[0] as HTMLElement);
  expect(click).toHaveBeenCalledOnce();
});

it('of any kind holds one file or none', async () => {
  const change = vi.fn<(file: StoredFile | null) => void>();
  const { container, rerender } = render(
    <AnyFileField label="Any" value={stored('one')} onChange={change} />,
  );
  expect(container.querySelectorAll('[data-file]')).toHaveLength(1);
  fireEvent.click(all('button', 'Remove the file')[0] as HTMLElement);
  expect(change).toHaveBeenCalledWith(null);
  for (const value of ['words', null, undefined]) {
    rerender(<AnyFileField label="Any" value={value} onChange={change} />);
    expect(container.querySelectorAll('[data-file]')).toHaveLength(0);
  }
});
