import { act, waitFor } from '@testing-library/preact';
import { afterEach, expect, it } from 'vitest';

import { sockets } from '../testing/socket.ts';
import { afterPause, collects } from '../testing/studio.ts';
import { createList } from '../testing/things.ts';
import { all, find, key, shown } from '../testing/use.ts';
import { closeConsole, openConsole, refusal } from '../testing/whole-console.tsx';

afterEach(async () => {
  sockets.comeBack();
  await closeConsole();
});

const LOST = /^Connection lost/;

/** The page of tasks, which follows all of them, over a server that refuses their list once. */
async function openRefused() {
  const { given, field } = collects((count) => (count === 1 ? refusal('UNAVAILABLE') : createList([])));
  const opened = await openConsole('/tasks', { tasks: field });
  await shown('main [role=alert]');
  await waitFor(() => expect(opened.followedWith('tasksProgress')).toHaveLength(1));
  return given;
}
const lose = async () => {
  await afterPause(2_000, () => sockets.break(true));
  await find('p', LOST);
};

it('says that the connection is lost until it is there again, and asks for what has failed', async () => {
  const given = await openRefused();
  await lose();
  expect(given).toHaveLength(1);
  void act(() => sockets.comeBack());
  await find('h2', 'No tasks here');
  expect(all('p', LOST)).toEqual([]);
});

it('asks for what has failed also after a loss that was too short to be said', async () => {
  const given = await openRefused();
  sockets.break();
  await find('h2', 'No tasks here');
  expect(given).toHaveLength(2);
});

it('says no loss where nothing is followed, as nothing would notice its end', async () => {
  await openRefused();
  await lose();
  key('g');
  key('p');
  await find('h1', 'Models');
  await waitFor(() => expect(all('p', LOST)).toEqual([]));
});
