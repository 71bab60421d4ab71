import { fireEvent, screen, waitFor } from '@testing-library/preact';
import { afterEach, expect, it } from 'vitest';

import { outline } from '../../testing/outline.ts';
import { ago } from '../../testing/things.ts';
import { closeConsole, type Fields, openConsole, refusal } from '../../testing/whole-console.tsx';
import { t } from '../../text/text.ts';

afterEach(closeConsole);

const file = (name: string, contentType: string, change: Fields = {}): Fields => ({
  url: `https://kiln.test/files/${name}`,
  name,
  contentType,
  ...change,
});
const sharedBoard = {
  name: 'Lakes',
  endsAt: ago(-3 * 86_400),
  files: [
    file('wide.png', 'image/png', { width: 300, height: 100 }),
    file('flat.png', 'image/png', { width: 300, height: 0 }),
    file('half.png', 'image/png', { width: 300 }),
    file('other.png', 'image/png', { height: 300 }),
    file('film.mp4', 'video/mp4'),
    file('song.mp3', 'audio/mpeg'),
    file('words.txt', 'text/plain'),
  ],
};

it('shows what was passed on, and an image large when it is pressed', async () => {
  const { askedFor } = await openConsole('/shared/token-one', { sharedBoard }, { isVisitor: true });
  await screen.findByText('song.mp3');
  await expect(outline()).toMatchFileSnapshot('outlines/shared.txt');
  expect(askedFor('SharedBoard')).toEqual([{ token: 'token-one' }]);
  const { muted, loop, controls } = document.querySelector('video') ?? ({} as HTMLVideoElement);
  expect([muted, loop, controls]).toEqual([true, true, true]);
  fireEvent.click(screen.getByLabelText('wide.png'));
  await screen.findByRole('dialog');
  await expect(outline(document.querySelector('dialog'))).toMatchFileSnapshot('outlines/shared-open.txt');
  fireEvent.click(screen.getByLabelText(t('dialog.close')));
  await waitFor(() => expect(document.querySelector('dialog')).toBeNull());
});

it('says that it has ended, and that it cannot be asked', async () => {
  let answer: (value: unknown) => void = () => undefined;
  const { hasAsked } = await openConsole('/shared/token-one', {
    sharedBoard: () => new Promise((resolve) => (answer = resolve)),
  });
  await hasAsked('SharedBoard');
  expect(document.querySelector('[aria-busy=true]')).not.toBeNull();
  expect(screen.queryByText(t('shared.ended'))).toBeNull();
  answer(null);
  expect(await screen.findByText(t('shared.ended'))).toBeDefined();
  await closeConsole();
  await openConsole('/shared/token-one', {
    sharedBoard: () => {
      throw refusal('UNAVAILABLE');
    },
  });
  expect(await screen.findByRole('alert')).toBeDefined();
  expect(screen.queryByText(t('shared.ended'))).toBeNull();
});
