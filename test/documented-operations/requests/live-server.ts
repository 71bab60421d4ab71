import { readFile } from 'node:fs/promises';

import { createBrowser } from '../../kit/clients/browser.ts';
import { rest, until } from '../../kit/clients/requests.ts';
import { documented, toKey, type Documented } from '../documents/operation.ts';
import { send, type Answer, type Sent } from './send.ts';

/** What requests to a live server are made of: media of its own, and things it was asked for before. Each is made once. */
export interface LiveServer {
  readonly url: string;
  /** The answer to the sound request of an operation, sent once for all callers. */
  readonly once: (key: string) => Promise<Answer>;
  /** The answer to it, sent anew. */
  readonly fresh: (key: string) => Promise<Answer>;
  /** The answer to an upload of this file, sent once for each name of a file. */
  readonly uploaded: (key: string, file: File) => Promise<Answer>;
  /** The end of the task that the sound request of an operation submitted: the data of its result. */
  readonly ended: (key: string) => Promise<Readonly<Record<string, unknown>>>;
  /** Files of each kind. */
  readonly files: {
    readonly image: () => Promise<File>;
    readonly recording: () => Promise<File>;
    readonly video: () => Promise<File>;
  };
  /** Their addresses here. */
  readonly links: {
    readonly image: () => Promise<string>;
    readonly recording: () => Promise<string>;
    readonly video: () => Promise<string>;
  };
  /** A living video template that nobody needs, by its id. */
  readonly newTemplate: () => Promise<number>;
  /** Tokens of somebody who has just signed in. */
  readonly signedIn: () => Promise<Tokens>;
  /** What stands between an agreeing login page and its user: the query of the callback, and its cookies. */
  readonly agreed: () => Promise<{ readonly query: URLSearchParams; readonly cookie: string }>;
}

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** Makes the sound request of an operation. */
export type CreateRequest = (world: LiveServer, operation: Documented) => Promise<Sent>;

/** The world of the server at this address. */
export function liveServer(url: string, createRequest: CreateRequest): LiveServer {
  const made = new Map<string, Promise<unknown>>();
  const once = <Value>(name: string, make: () => Promise<Value>): Promise<Value> => {
    const known = made.get(name) as Promise<Value> | undefined;
    if (known !== undefined) return known;
    const value = make();
    made.set(name, value);
    return value;
  };
  const fetchFile = async (link: Promise<string>, name: string, type: string): Promise<File> => {
    const answer = await fetch(await link);
    return new File([new Uint8Array(await answer.arrayBuffer())], name, { type });
  };
  const firstUrl = ({ body }: Answer): string => {
    if (typeof body.data?.url !== 'string') throw new Error(`no address: ${JSON.stringify(body)}`);
    return body.data.url;
  };
  const fresh = async (key: string): Promise<Answer> => {
    const operation = findOperation(key);
    return send(url, operation, await createRequest(world, operation));
  };
  const world: LiveServer = {
    url,
    fresh,
    once: (key) => once(key, () => fresh(key)),
    uploaded: (key, file) =>
      once(`${file.name} by ${key}`, () => send(url, findOperation(key), { params: {}, body: { file } })),
    newTemplate: async () => (await fresh('POST /api/template/create')).body.data.id as number,
    ended: (key) =>
      once(`the end of ${key}`, async () => awaitEnd(url, (await world.once(key)).body.data as string)),
    files: {
      image: () => once('image', imageFile),
      recording: () => fetchFile(world.links.recording(), 'a.wav', 'audio/wav'),
      video: () => fetchFile(world.links.video(), 'a.mp4', 'video/mp4'),
    },
    links: {
      image: () => world.once('POST /api/file/upload').then(({ body }) => body.data as string),
      recording: () => world.once('POST /api/agg/speech_router/sync/generate/speech').then(firstUrl),
      video: () => world.once('POST /api/vidb/sync/generate/video').then(firstUrl),
    },
    signedIn: async () => signIn(url),
    agreed: async () => agree(url),
  };
  return world;
}

function findOperation(key: string): Documented {
  const operation = documented.find((one) => toKey(one) === key);
  if (operation === undefined) throw new Error(`${key} is not documented`);
  return operation;
}

async function imageFile(): Promise<File> {
  const bytes = await readFile(new URL('../../kit/samples/image.png', import.meta.url));
  return new File([Uint8Array.from(bytes)], 'a.png', { type: 'image/png' });
}

async function awaitEnd(url: string, taskId: string): Promise<Readonly<Record<string, unknown>>> {
  const { body } = await until(
    () => rest(url, 'GET', `/api/task/status/${taskId}`),
    (answer) => typeof answer.body.status === 'boolean',
  );
  if (body.status !== true) throw new Error(`task ${taskId}: ${JSON.stringify(body)}`);
  return body.data;
}

async function agree(url: string): ReturnType<LiveServer['agreed']> {
  const browser = createBrowser();
  const isBack = ({ pathname }: URL) => pathname === '/auth/idp/callback';
  const begun = await browser.follow(`${url}/auth/idp/authorize`, isBack);
  const { url: callback } = await browser.follow(begun.url.href, isBack, {
    form: { subject: 'sandbox-ada' },
  });
  const cookie = [...browser.cookies(url)].map(([name, value]) => `${name}=${value}`).join('; ');
  return { query: callback.searchParams, cookie };
}

async function signIn(url: string): Promise<Tokens> {
  const { query, cookie } = await agree(url);
  const { body } = await rest(url, 'GET', `/auth/idp/callback?${query.toString()}`, undefined, { cookie });
  return body.data;
}
