import { setTimeout as pause } from 'node:timers/promises';

import type { Follow, FollowRequest, Progress } from '../kit/clients/followers.ts';

/** Somebody who wants the whole story: after every break it comes back with the seq of the last entry it has seen. */
export interface ResumingFollower {
  /** Everything that came over all connections, in its order. */
  readonly events: Progress[];
  /** What broke the connections; a client that resumes by itself does not tell. */
  readonly breaks: readonly Error[];
  /** Resolves when the server has ended the story. */
  readonly done: Promise<void>;
}

/** Milliseconds before a broken connection is tried again. */
const AGAIN_MS = 200;

/** Follows through breaks until the end. */
export function followResuming(follow: Follow, url: string, { taskId }: FollowRequest): ResumingFollower {
  const events: Progress[] = [];
  const breaks: Error[] = [];
  async function followOn(): Promise<void> {
    for (;;) {
      const broken = await follow(url, { taskId, afterSeq: events.at(-1)?.seq, into: events }).over;
      if (broken === null) return;
      breaks.push(broken);
      await pause(AGAIN_MS);
    }
  }
  return { events, breaks, done: followOn() };
}
