import { afterAll, beforeAll } from 'vitest';

import type { Sandbox } from './sandbox.ts';
import { startSandbox } from './test-kit.ts';

/** One sandbox for the tests of a file, with plain images and no waiting. */
export function useSandbox(): { readonly url: (mount: string) => string } {
  let sandbox: Sandbox | undefined;
  let stop: (() => Promise<void>) | undefined;
  beforeAll(async () => {
    const quick = { queuedMs: 0, runningMs: 20, progressSteps: 1, concurrency: 64 };
    const latencies = ['fal', 'replicate', 'gemini', 'openai', 'minimax', 'ark', 'volcengine'].map(
      (wire) => ({
        wire,
        ...quick,
      }),
    );
    ({ sandbox, stop } = await startSandbox({ latencies }));
  });
  afterAll(() => stop?.());
  return { url: (mount) => `${sandbox?.url ?? ''}/${mount}` };
}

/** An image of one colour. */
export const onePixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
