import { EventEmitter } from 'node:events';

import { describe, expect, it, vi } from 'vitest';

import { onRequest, sendRequest } from './messages.ts';

interface Sent {
  readonly request?: string;
  readonly id?: number;
}

/** One end of a channel that notes what is sent through it. */
function end(broken: Error | null = null) {
  const sent: Sent[] = [];
  const emitter = new EventEmitter();
  const send = (message: object, done?: (error: Error | null) => void): boolean => {
    sent.push(message);
    done?.(broken);
    return true;
  };
  return { sent, channel: Object.assign(emitter, { send }) };
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe('a request to the other process', () => {
  it('takes the reply to it and to no other, and listens no longer', async () => {
    const { sent, channel } = end();
    const [first, second] = [
      sendRequest(channel, 'metrics', 60_000),
      sendRequest(channel, 'metrics', 60_000),
    ];
    const [one, other] = sent.map(({ id }) => id);
    expect(one).not.toBe(other);
    channel.emit('message', { replyTo: 'health', id: one, text: 'of another kind' });
    channel.emit('message', { replyTo: 'metrics', id: other, text: 'the second' });
    channel.emit('message', { replyTo: 'metrics', id: one });
    expect(await Promise.all([first, second])).toEqual(['', 'the second']);
    expect(channel.listenerCount('message')).toBe(0);
  });

  it('fails where it can not be sent, or when nobody replies', async () => {
    const { channel } = end(new Error('the channel is closed'));
    await expect(sendRequest(channel, 'metrics', 60_000)).rejects.toThrow('the channel is closed');
    vi.useFakeTimers();
    try {
      const silent = end();
      const reply = sendRequest(silent.channel, 'metrics', 50).catch((error: unknown) => error);
      await vi.advanceTimersByTimeAsync(50);
      expect(await reply).toMatchObject({ message: 'no reply to "metrics"' });
      expect(silent.channel.listenerCount('message')).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});

it('a request is replied to by its id; others are not, nor one whose handler fails', async () => {
  const { sent, channel } = end();
  onRequest(channel, 'metrics', async () => 'all of them');
  onRequest(channel, 'broken', async () => {
    throw new Error('no');
  });
  for (const request of ['metrics', 'broken', 'unknown']) channel.emit('message', { request, id: 7 });
  await turn();
  expect(sent).toEqual([{ replyTo: 'metrics', id: 7, text: 'all of them' }]);
});
