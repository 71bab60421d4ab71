import { type Fields, NOW } from './whole-console.tsx';

/** What a server for tests has: each with what all of its kind have, and what a test says of it. */

/** A time before now, in seconds. */
export const ago = (seconds: number): string => new Date(NOW.getTime() - seconds * 1_000).toISOString();

/** A time after now. */
export const NEXT_WEEK = ago(-7 * 86_400);

/** A page of a list; the last one unless its end has a name. */
export const createList = (
  nodes: readonly Fields[],
  end: string | null = null,
  total = nodes.length,
): Fields => ({
  totalCount: total,
  edges: nodes.map((node) => ({ cursor: String(node['id']), node })),
  pageInfo: { hasNextPage: end !== null, endCursor: end },
});

/** An image that a task has made. */
export const createFile = (id: string, change: Fields = {}): Fields => ({
  __typename: 'Media',
  id,
  url: `https://kiln.test/files/${id}`,
  contentType: 'image/png',
  bytes: 2_048,
  sha256: `sha-${id}`,
  width: 1_024,
  height: 768,
  createdAt: NOW.toISOString(),
  name: `${id}.png`,
  thumbnail: ({ width }: { readonly width: number }) => `https://kiln.test/files/${id}/${width}`,
  starred: false,
  task: createTask(`task-${id}`, { input: createInput(`a lake, ${id}`) }),
  ...change,
});

/** What a task was asked for. */
export const createInput = (prompt: string | null, change: Fields = {}): Fields => ({
  prompt,
  model: 'large',
  options: {},
  files: [],
  ...change,
});

/** An image that was made within a minute. */
export const createTask = (id: string, change: Fields = {}): Fields => ({
  __typename: 'Task',
  id,
  kind: 'IMAGE',
  generator: 'lakes',
  provider: 'openai',
  model: 'large',
  state: 'SUCCEEDED',
  stageInfo: { code: 'FINISHED', text: 'finished' },
  progress: 100,
  lastSeq: 5,
  createdAt: ago(60),
  startedAt: ago(50),
  endedAt: ago(20),
  owner: 'usr_ada',
  ...change,
});

/** A model that makes images of words. */
export const createModel = (change: Fields = {}): Fields => ({
  id: 'lakes large',
  model: 'large',
  name: 'Large',
  category: 'image',
  generator: 'lakes',
  provider: 'openai',
  inputs: ['prompt', 'images'],
  kinds: ['IMAGE'],
  needs: [],
  allowed: true,
  ...change,
});

/** A task as a feed tells it: an event has all that a row shows. */
export const told = (id: string, change: Fields = {}): Fields => ({
  cursor: `cursor-${id}`,
  task: {
    taskType: null,
    sandbox: false,
    queuePosition: null,
    cancelRequestedAt: null,
    cost: null,
    outputs: [],
    error: null,
    ...createTask(id),
    stageInfo: STAGE,
    input: { prompt: `a lake, ${id}`, model: 'large' },
    ...change,
  },
});

/** A stage as a feed tells it. */
const STAGE: Fields = {
  code: 'FINISHED',
  text: 'finished',
  retryInSeconds: null,
  upstreamPosition: null,
  step: null,
  node: null,
  preview: null,
};
