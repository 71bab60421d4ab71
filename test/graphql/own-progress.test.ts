import { createHash } from 'node:crypto';

import { EventSource } from 'eventsource';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { graphql, until } from '../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';

/** All tasks of a caller over Server-Sent Events, whose ids say of every task how far it was read. */

const SECRET = 'secret-of-the-dashboard';
const dashboard = { authorization: `Bearer ${SECRET}` };
const START = `mutation { generateImage(input: { generator: "imga", prompt: "a dam" }) { id } }`;
const WATCH = 'subscription { tasksProgress { seq state task { id } } }';

let kiln: KilnUnderTest;
beforeAll(async () => {
  const hash = createHash('sha256').update(SECRET).digest('hex');
  kiln = await startKiln({ settings: { SERVICE_KEYS: `dashboard=${hash}` } });
});
afterAll(() => kiln?.close());

interface Seen {
  readonly entries: string[];
  readonly ids: string[];
  leave(): void;
}

/** Follows as a browser does that has an id from before. */
function follow(lastId?: string): Seen {
  const seen = { entries: [] as string[], ids: [] as string[] };
  const source = new EventSource(`${kiln.url}/graphql?query=${encodeURIComponent(WATCH)}`, {
    fetch: (url, init) => {
      const resumed = lastId === undefined ? {} : { 'last-event-id': lastId };
      return fetch(url, { ...init, headers: { ...resumed, ...init.headers, ...dashboard } });
    },
  });
  source.addEventListener('next', ({ data, lastEventId }) => {
    const { seq, state, task } = JSON.parse(String(data)).data.tasksProgress;
    seen.entries.push(`${task.id} ${seq} ${state}`);
    seen.ids.push(lastEventId);
  });
  return { ...seen, leave: () => source.close() };
}

const start = async () => (await graphql(kiln.url, START, {}, dashboard)).data.generateImage.id as string;
const isOver = (entries: readonly string[], id: string) =>
  until(
    () => Promise.resolve(entries.some((entry) => entry.startsWith(id) && entry.endsWith('SUCCEEDED'))),
    (isThere) => isThere,
  );

it('goes on after the id of an event, for every task, also those that began and ended meanwhile', async () => {
  const whole = follow();
  const broken = follow();
  const first = await start();
  await until(
    () => Promise.resolve(broken.ids.length),
    (count) => count > 0,
  );
  broken.leave();
  const last = broken.ids.at(-1) ?? '';
  expect(last).toMatch(/^p[\w-]+$/);
  const second = await start();
  for (const id of [first, second]) await isOver(whole.entries, id);
  const rest = follow(last);
  for (const id of [first, second]) await isOver(rest.entries, id);
  const place = (entries: readonly string[]) => entries.toSorted();
  expect(place([...broken.entries, ...rest.entries])).toEqual(place(whole.entries));
  rest.leave();
  whole.leave();
});
