import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { followers } from '../kit/clients.ts';
import { graphql, rest, taskEnd, until } from '../kit/requests.ts';
import { entries, executePoster, expectWholeStory, storedLog, underWay } from '../subscriptions/following.ts';
import { followPersistently } from '../subscriptions/resuming.ts';
import { startMuteWorker } from './mute-worker.ts';
import { isReady, startNode, freePorts } from './processes.ts';
import { startSplitKiln, type SplitKiln } from './split.ts';

let kiln: SplitKiln;
beforeAll(async () => {
  kiln = await startSplitKiln();
});
afterAll(() => kiln?.close());
beforeEach(() =>
  kiln.sandbox.control('pace', { wire: 'midjourney', queuedMs: 100, runningMs: 5_000, progressSteps: 5 }),
);

describe('a gateway that reaches both subgraphs over HTTP', () => {
  it('gives every client growing progress, the end, and what the other subgraph joins', async () => {
    const started = await executePoster(kiln.url, 'a ferry');
    const all = Object.values(followers).map((follow) => follow(kiln.url, started));
    for (const { over } of all) expect(await over).toBeNull();
    const log = await storedLog(kiln.url, started.taskId);
    for (const { events } of all) {
      expectWholeStory(events, started);
      expect(entries(events)).toEqual(log);
    }
    const picture = await fetch(all[0]?.events.at(-1)?.task.outputs[0]?.url ?? '');
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png']);
  });

  it.each(['media', 'gateway'] as const)(
    'loses no event when %s is killed and started again',
    async (role) => {
      const started = await executePoster(kiln.url, `a ferry without ${role}`);
      const all = Object.values(followers).map((follow) => followPersistently(follow, kiln.url, started));
      await underWay(all);
      await kiln.end(role, 'SIGKILL');
      await kiln.start(role);
      for (const { done } of all) await done;
      const log = await storedLog(kiln.url, started.taskId);
      for (const { events } of all) {
        expectWholeStory(events, started);
        expect(entries(events)).toEqual(log);
      }
    },
  );

  it('serves the documented paths, and files, as if it were one process', async () => {
    await kiln.sandbox.control('pace', { wire: 'midjourney', runningMs: 200 });
    const submitted = await rest(kiln.url, 'POST', '/api/task/create/task', {
      task_type: 'tea',
      prompt: 'a lighthouse',
    });
    const ended = await taskEnd(kiln.url, submitted.body.data);
    expect(ended.body.status).toBe(true);
    const picture = await fetch(ended.body.data.urls[0], { headers: { range: 'bytes=0-7' } });
    expect([picture.status, Buffer.from(await picture.arrayBuffer()).toString('latin1')]).toEqual([
      206,
      '\x89PNG\r\n\x1a\n',
    ]);
  });

  it('serves the same for a supergraph file that names the subgraphs, with the documented paths', async () => {
    const [port] = await freePorts(1);
    const url = `http://127.0.0.1:${port}`;
    const { INTERNAL_KEY } = kiln.settings;
    const gateway = await startNode(
      'gateway/main.ts',
      ['--role', 'gateway', '--supergraph', await kiln.writeSupergraph()],
      {
        settings: { PORT: String(port), INTERNAL_KEY: INTERNAL_KEY ?? '', RATE_LIMIT: 'off' },
        ready: () => isReady(url),
      },
    );
    try {
      const started = await executePoster(url, 'a ferry by file');
      const { events, over } = followers['graphql-ws'](url, started);
      expect(await over).toBeNull();
      expectWholeStory(events, started);
      const status = await rest(url, 'GET', `/api/task/status/${started.taskId}`);
      expect(status.body).toMatchObject({ status: true, data: { task_id: started.taskId } });
    } finally {
      await gateway.end();
    }
  });
});

describe('wake-ups that get lost', () => {
  it('cost no event when the listening connection is cut again and again', async () => {
    const started = await executePoster(kiln.url, 'a ferry in the dark');
    const { events, over } = followers['graphql-ws'](kiln.url, started);
    let cuts = 0;
    for (const seen of [1, 2, 3, 4]) {
      await until(
        async () => events.length,
        (length) => length >= seen,
      );
      // It comes back after a moment, to be cut again.
      cuts += await until(cutListener, (count) => count > 0);
    }
    expect(await over).toBeNull();
    expect(cuts).toBeGreaterThanOrEqual(4);
    expectWholeStory(events, started);
    expect(entries(events)).toEqual(await storedLog(kiln.url, started.taskId));
  });

  it('cost no event, nor the end, when the worker in another process is never heard', async () => {
    await kiln.end('worker', 'SIGTERM');
    const worker = await startMuteWorker(kiln.settings);
    try {
      await kiln.sandbox.control('pace', { wire: 'midjourney', runningMs: 8_000 });
      const started = await executePoster(kiln.url, 'a silent ferry');
      const all = Object.values(followers).map((follow) => follow(kiln.url, started));
      for (const { over } of all) expect(await over).toBeNull();
      expect(worker.lost()).toBeGreaterThan(3);
      const log = await storedLog(kiln.url, started.taskId);
      for (const { events } of all) {
        expectWholeStory(events, started);
        expect(entries(events)).toEqual(log);
      }
      await until(
        () => graphql(kiln.url, 'query ($id: ID!) { execution(id: $id) { status } }', { id: started.id }),
        ({ data }) => data.execution.status === 'COMPLETED',
      );
    } finally {
      await worker.stop();
    }
  });
});

/** Ends the connection on which the media process listens, as a failing network would; answers how many there were. */
async function cutListener(): Promise<number> {
  const admin = new Client({ connectionString: kiln.settings['DATABASE_URL'] });
  await admin.connect();
  try {
    const { rowCount } = await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'kiln media' and (query ilike 'listen %' or query = 'select 1')
         and datname = current_database()`,
    );
    return rowCount ?? 0;
  } finally {
    await admin.end();
  }
}
