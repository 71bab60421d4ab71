import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { describe, expect, test } from 'vitest';

import { createLifecycle } from './lifecycle.ts';
import { silentLogger } from './logger.ts';

describe('stopping', () => {
  test('stops the parts in reverse order, one after the other, once', async () => {
    const lifecycle = createLifecycle({ logger: silentLogger(), graceMs: 10_000 });
    const order: string[] = [];
    for (const name of ['database', 'queue', 'server']) {
      lifecycle.add(name, async () => {
        order.push(`${name} stopping`);
        await Promise.resolve();
        order.push(`${name} stopped`);
      });
    }
    expect(lifecycle.stopping.aborted).toBe(false);
    await Promise.all([lifecycle.stop('test'), lifecycle.stop('again')]);
    expect(lifecycle.stopping.aborted).toBe(true);
    expect(order).toEqual([
      'server stopping',
      'server stopped',
      'queue stopping',
      'queue stopped',
      'database stopping',
      'database stopped',
    ]);
  });

  test('goes on when a part fails or hangs', async () => {
    const lifecycle = createLifecycle({ logger: silentLogger(), graceMs: 50 });
    const stopped: string[] = [];
    lifecycle.add('database', async () => void stopped.push('database'));
    lifecycle.add('hanging', () => new Promise(() => undefined));
    lifecycle.add('failing', () => Promise.reject(new Error('no')));
    await lifecycle.stop('test');
    expect(stopped).toEqual(['database']);
  });

  test('waits for a part as long as that one may take', async () => {
    const lifecycle = createLifecycle({ logger: silentLogger(), graceMs: 60_000 });
    const stopped: string[] = [];
    lifecycle.add('database', async () => void stopped.push('database'));
    lifecycle.add('hanging', () => new Promise(() => undefined), 20);
    await lifecycle.stop('test');
    expect(stopped).toEqual(['database']);
  });

  test('stops a part in its turn that is added while others stop', async () => {
    const lifecycle = createLifecycle({ logger: silentLogger(), graceMs: 10_000 });
    const order: string[] = [];
    lifecycle.add('first', async () => void order.push('first'));
    lifecycle.add('second', async () => {
      lifecycle.add('late', async () => void order.push('late'));
      await Promise.resolve();
      order.push('second');
    });
    await lifecycle.stop('test');
    expect(order).toEqual(['second', 'late', 'first']);
  });

  test('stops a part at once that is added when everything has stopped', async () => {
    const lifecycle = createLifecycle({ logger: silentLogger(), graceMs: 10_000 });
    await lifecycle.stop('test');
    const stopped = new Promise<string>((resolve) => {
      lifecycle.add('late', async () => resolve('late'));
    });
    expect(await stopped).toBe('late');
  });
});

describe('a process', () => {
  const head = `
    import { createLifecycle } from '${new URL('lifecycle.ts', import.meta.url).href}';
    import { createLogger } from '${new URL('logger.ts', import.meta.url).href}';
    const lifecycle = createLifecycle({ logger: createLogger({ level: 'error' }), graceMs: 60_000 });
    lifecycle.onSignals();
    setInterval(() => undefined, 1_000);
  `;

  /** Runs a script; when it has written a line that `signals` names, it is sent that signal. */
  async function run(script: string, signals: Record<string, NodeJS.Signals> = {}) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', head + script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    const waiting = new Map(Object.entries(signals));
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      for (const [line, signal] of waiting) {
        if (!output.includes(line)) continue;
        waiting.delete(line);
        child.kill(signal);
      }
    });
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, output };
  }

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'ends with code 0 after %s, its parts stopped',
    async (signal) => {
      const script = `lifecycle.add('part', async () => console.log('part stopped')); console.log('ready');`;
      expect(await run(script, { ready: signal })).toEqual({ code: 0, output: 'ready\npart stopped\n' });
    },
  );

  test('ends at once after a second signal', async () => {
    const script = `lifecycle.add('part', () => { console.log('stopping'); return new Promise(() => {}); }); console.log('ready');`;
    const { code } = await run(script, { ready: 'SIGTERM', stopping: 'SIGINT' });
    expect(code).toBe(1);
  });

  test('takes the same signal at the same moment for one: npm passes on what the terminal has sent', async () => {
    const script = `
      lifecycle.add('part', async () => console.log('part stopped'));
      console.log('ready');
      process.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
      lifecycle.add('slow part', () => new Promise((resolve) => setTimeout(resolve, 100)));
    `;
    expect(await run(script, { ready: 'SIGINT' })).toEqual({ code: 0, output: 'ready\npart stopped\n' });
  });

  test('ends at once after the same signal a second later', async () => {
    const script = `
      lifecycle.add('part', () => {
        const { now } = performance;
        performance.now = () => now.call(performance) + 1_000;
        console.log('stopping');
        return new Promise(() => {});
      });
      console.log('ready');
    `;
    expect((await run(script, { ready: 'SIGTERM', stopping: 'SIGTERM' })).code).toBe(1);
  });

  test('stops the other parts too when something fails meanwhile', async () => {
    const script = `
      lifecycle.add('part', async () => console.log('part stopped'));
      lifecycle.add('failing', () => {
        void Promise.reject(new Error('late'));
        return new Promise((resolve) => setTimeout(resolve, 20));
      });
      console.log('ready');
    `;
    const { code, output } = await run(script, { ready: 'SIGTERM' });
    expect([code, output.includes('part stopped')]).toEqual([1, true]);
  });

  test.each([
    ['an exception', `setTimeout(() => { throw new Error('boom'); });`],
    ['a rejection', `void Promise.reject(new Error('boom'));`],
  ])('logs %s that nobody caught, stops its parts and ends with code 1', async (_name, failure) => {
    const { code, output } = await run(
      `lifecycle.add('part', async () => console.log('part stopped')); ${failure}`,
    );
    expect(code).toBe(1);
    expect(output).toContain('"message":"boom"');
    expect(output).toContain('part stopped');
  });

  test.each([
    ['the logger', `createLogger({ level: 'error' })`],
    [
      'a stream',
      `createLogger({ level: 'error', destination: { write: (line) => process.stdout.write(line) } })`,
    ],
  ])('goes on and stops cleanly when nobody reads its log any more (%s)', async (_name, logger) => {
    const script = `
      const logger = ${logger};
      process.stdin.once('data', () => setInterval(() => logger.error('a line'), 5));
      process.stdin.on('end', () => process.kill(process.pid, 'SIGTERM'));
      console.log('ready');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', head + script], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    child.stdout.destroy();
    child.stdin.write('log');
    setTimeout(() => child.stdin.end(), 300);
    const [code] = (await once(child, 'exit')) as [number | null];
    expect(code).toBe(0);
  });

  test('ends with code 1 when a part did not stop cleanly', async () => {
    const script = `lifecycle.add('part', () => Promise.reject(new Error('stuck'))); console.log('ready');`;
    expect((await run(script, { ready: 'SIGTERM' })).code).toBe(1);
  });
});
