import { spawn, type ChildProcess } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

import { WebSocket } from 'ws';

/** A real browser without a window, spoken to by its own protocol: no library, nothing downloaded. */
export interface Chromium {
  /** What it calls itself. */
  readonly version: string;
  /** Runs a command of the protocol, in a session or for the whole browser. */
  send(method: string, parameters?: object, sessionId?: string): Promise<Readonly<Record<string, unknown>>>;
  /** Hears every event. */
  listen(listener: (event: BrowserEvent) => void): void;
  close(): Promise<void>;
}

interface BrowserEvent {
  readonly method: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- each event has its own shape; the protocol is its contract
  readonly params: any;
  readonly sessionId?: string;
}

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome'];
const START_MS = 30_000;
const COMMAND_MS = 120_000;

/** CHROMIUM_PATH, else the first browser on the PATH; null when there is none. */
export function findChromium({ CHROMIUM_PATH, PATH = '' }: NodeJS.ProcessEnv): string | null {
  if (CHROMIUM_PATH) return CHROMIUM_PATH;
  const places = PATH.split(path.delimiter).flatMap((folder) => NAMES.map((name) => path.join(folder, name)));
  return places.find(isProgram) ?? null;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Starts it with a profile of its own. It can reach this machine alone, so that whatever is shown came from here. */
export async function startChromium(program: string): Promise<Chromium> {
  const profile = await mkdtemp(path.join(tmpdir(), 'kiln-browser-'));
  const child = spawn(program, flags(profile), { stdio: ['ignore', 'ignore', 'pipe'] });
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const end = async (): Promise<void> => {
    child.kill('SIGKILL');
    await gone;
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const socket = new WebSocket(await addressOf(child), { maxPayload: 1 << 28 });
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    const { send, listen } = speak(socket);
    const { product } = await send('Browser.getVersion');
    return {
      version: String(product),
      send,
      listen,
      async close() {
        socket.close();
        await end();
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

function flags(profile: string): readonly string[] {
  return [
    '--headless=new',
    '--remote-debugging-port=0',
    `--user-data-dir=${profile}`,
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    '--no-first-run',
    '--disable-gpu',
    '--disable-quic',
    '--disable-sync',
    '--disable-component-update',
    '--disable-background-networking',
    '--disable-dev-shm-usage',
    // Pages that a walk hands in itself have no address; they may still open sockets to this machine.
    '--disable-features=LocalNetworkAccessChecks,LocalNetworkAccessChecksWebSockets',
    // Its own sandbox refuses the root user of a container.
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    'about:blank',
  ];
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const said: string[] = [];
    const late = setTimeout(
      () => reject(new Error(`the browser does not start:\n${said.join('\n')}`)),
      START_MS,
    );
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the browser ended (${code}):\n${said.join('\n')}`)));
    if (child.stderr === null) return;
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (said.length < 100) said.push(line);
      const address = /^DevTools listening on (ws:\S+)/.exec(line)?.[1];
      if (address === undefined) return;
      clearTimeout(late);
      resolve(address);
    });
  });
}

interface Answer {
  readonly id?: number;
  readonly error?: { readonly message: string };
  readonly result?: Readonly<Record<string, unknown>>;
}

function speak(socket: WebSocket): Pick<Chromium, 'send' | 'listen'> {
  const waiting = new Map<number, (answer: Answer) => void>();
  const listeners: ((event: BrowserEvent) => void)[] = [];
  let last = 0;
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString('utf8')) as Answer & BrowserEvent;
    if (message.id === undefined) return listeners.forEach((listener) => listener(message));
    waiting.get(message.id)?.(message);
  });
  return {
    listen: (listener) => void listeners.push(listener),
    send: (method, params = {}, sessionId?: string) =>
      new Promise((resolve, reject) => {
        last += 1;
        const id = last;
        const late = setTimeout(() => reject(new Error(`the browser does not answer ${method}`)), COMMAND_MS);
        waiting.set(id, ({ error, result = {} }) => {
          clearTimeout(late);
          waiting.delete(id);
          if (error === undefined) resolve(result);
          else reject(new Error(`${method}: ${error.message}`));
        });
        socket.send(
          JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }),
        );
      }),
  };
}
