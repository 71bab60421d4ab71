import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';

import type { Logger } from '../platform/logger.ts';
import { sandboxWires, type SandboxWires } from '../platform/sandbox-wires.ts';
import { createControl } from './control/control.ts';
import type { Control } from './control/control.ts';
import { createFaults } from './control/faults.ts';
import type { FaultInput, Faults } from './control/faults.ts';
import { createPaces } from './control/paces.ts';
import type { PaceChange } from './control/paces.ts';
import { text } from './http/answer.ts';
import { failRequest, listen } from './http/listener.ts';
import { BodyTooLarge } from './http/read-body.ts';
import { sendAnswer } from './http/send.ts';
import { serveWire } from './http/serve-wire.ts';
import type { Wire, WireUpgrade } from './http/wire.ts';
import { createIdentityStandIn } from './identity/identity-provider.ts';
import type { IdentityOptions, IdentityStandIn } from './identity/identity-provider.ts';
import type { JobRunner } from './jobs/job-runner.ts';
import { openJournal } from './jobs/journal.ts';
import { createPage } from './page.ts';
import { createPlatformStandIns, type SandboxPlatforms } from './platforms/platforms.ts';
import { FIRST_PACES, createStandIns } from './stand-ins.ts';
import type { Secrets } from './stand-ins.ts';
import { createStripeStandIn } from './stripe/stripe.ts';
import type { StripeOptions, StripeStandIn } from './stripe/stripe.ts';
import { createInstantStudio } from './studio/instant-studio.ts';
import { createStudio } from './studio/studio.ts';
import type { Studio } from './studio/types.ts';

/**
 * The outside world in one listener: stand-ins of the providers on their own wires, with a journal that survives a
 * crash, misfortunes on demand, and a studio that makes real pictures. It listens on loopback only.
 */
export interface Sandbox {
  /** Origin of the listener. */
  readonly url: string;
  /** Base URL of each stand-in, as its provider's setting takes it. */
  readonly wires: SandboxWires;
  /** Address of the identity provider's discovery document, up to /.well-known. Reached at `identityUrl`, too. */
  readonly issuer: string;
  /** The identity provider behind this listener, for Kiln itself, whatever browsers call it. */
  readonly identityUrl: string;
  /** The platforms of mini-programs. */
  readonly platforms: SandboxPlatforms;
  /** The stand-in for Stripe. */
  readonly stripe: StripeStandIn;
  /** The part for people, to be mounted under /sandbox by the gateway. Never reaches /_control. */
  readonly browser: (
    request: IncomingMessage,
    response: ServerResponse,
    next?: (error?: unknown) => void,
  ) => void;
  /** Stops accepting, stops the jobs (they stay open in the journal) and ends the workers. */
  close(): Promise<void>;
}

export interface SandboxOptions {
  /** Journal and pictures; made when absent. One process at a time. */
  readonly dataDir: string;
  readonly logger: Logger;
  /** Loopback only: 127.0.0.1 (default) or ::1. */
  readonly host?: '127.0.0.1' | '::1';
  /** 0 (default) takes a free one. */
  readonly port?: number;
  /** Rendering processes (default 1). */
  readonly workers?: number;
  /** `small` halves the edges of pictures (default normal). */
  readonly size?: 'normal' | 'small';
  /** Serve one plain tiny picture instead of rendering: for tests with hundreds of tasks. */
  readonly instantImages?: boolean;
  /** Address of the one Kiln that this is the outside world of: payments are told of there, browsers sent back to it. */
  readonly kilnUrl?: string;
  /** Where browsers find the identity provider, and where it sends them back; without it, at the sandbox's own address. */
  readonly identity?: Omit<IdentityOptions, 'logger'>;
  /** Where browsers find a checkout's page, and where its events go; without it at the sandbox, and to `kilnUrl`. */
  readonly stripe?: Pick<StripeOptions, 'pageUrl' | 'webhookUrl'>;
  /** Secrets that the stand-ins demand; without one every caller is let in. */
  readonly secrets?: Secrets;
  /** Paces and misfortunes from the beginning, as /_control takes them. */
  readonly paces?: readonly PaceChange[];
  readonly faults?: readonly FaultInput[];
  /** Ended jobs kept (default 10,000) and for how many milliseconds (default 7 days). */
  readonly keep?: { readonly maxJobs?: number; readonly maxAgeMs?: number };
}

/** Mount of the identity provider. */
const IDENTITY = 'identity';
/** First segment of every path of Stripe's API: its SDK can be given an origin only. */
const STRIPE_API = 'v1';
/** Path of the pages of checkouts. */
const CHECKOUT = 'stripe/pay';
const MAX_BODY_BYTES = 64 * 1024 * 1024;
const WEEK_MS = 7 * 24 * 3_600_000;

/** Opens the journal, takes up what an earlier process left open, and listens. */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { logger } = options;
  const journal = await openJournal({
    directory: path.join(options.dataDir, 'journal'),
    maxJobs: options.keep?.maxJobs ?? 10_000,
    maxAgeMs: options.keep?.maxAgeMs ?? WEEK_MS,
    logger,
  });
  const studio = studioOf(options);
  const faults = createFaults();
  for (const fault of options.faults ?? []) faults.add(fault);
  const paces = createPaces(FIRST_PACES);
  for (const change of options.paces ?? []) paces.change(change);
  let origin = '';
  const deps = { studio, journal, logger, baseUrl: (mount: string) => `${origin}/${mount}` };
  const standIns = createStandIns({
    ...deps,
    secrets: options.secrets ?? {},
    paceOf: (wire) => paces.of(wire),
  });
  const runners = standIns.map(({ runner }) => runner);
  const control = createControl({
    faults,
    paces,
    journal,
    reset: () => reset(runners, [() => faults.clear(), () => paces.reset(), () => journal.clear()]),
  });
  let people: PeoplePart | null = null;
  const platforms = await createPlatformStandIns();
  const all = [...standIns.map(({ wire }) => wire), ...platforms.wires];
  const wires = new Map(all.map((wire) => [wire.mount, wire]));
  const listener = await listen({
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 0,
    logger,
    serve: (request, response) =>
      serve({ wires, faults, origin, control, people, logger }, request, response),
    upgrade: (request, socket, head) => upgrade({ wires, faults, origin }, { request, socket, head }),
  });
  origin = listener.origin;
  people = await openPeoplePart(options, origin);
  const { identity, stripe } = people;
  for (const runner of runners) runner.resume();
  return {
    url: origin,
    wires: sandboxWires(origin),
    issuer: identity.issuer,
    identityUrl: `${origin}/${IDENTITY}`,
    platforms: platforms.at(origin),
    stripe,
    browser: createBrowserPart(people, createPage({ wires: [...wires.values()], journal }), logger),
    async close() {
      await listener.close();
      await stripe.close();
      await Promise.all(runners.map((runner) => runner.stop()));
      await studio.close();
      await journal.settle();
    },
  };
}

/** Where a Kiln on this machine may be. */
function loopbackUrls(at: string): readonly string[] {
  return ['127.0.0.1', 'localhost', '[::1]'].map((host) => `http://${host}:4000${at}`);
}

function studioOf({ instantImages, workers = 1, size = 'normal', logger }: SandboxOptions): Studio {
  return instantImages === true ? createInstantStudio() : createStudio({ workers, size, logger });
}

/** What people meet: where they sign in, and where they pay. */
interface PeoplePart {
  readonly identity: IdentityStandIn;
  readonly stripe: StripeStandIn;
}

async function openPeoplePart(
  { identity, stripe, kilnUrl, dataDir, logger }: SandboxOptions,
  origin: string,
): Promise<PeoplePart> {
  const kilnUrls = (at: string) => (kilnUrl === undefined ? loopbackUrls(at) : [`${kilnUrl}${at}`]);
  return {
    identity: await createIdentityStandIn({
      issuer: `${origin}/${IDENTITY}`,
      redirectUris: kilnUrls('/auth/idp/callback'),
      postLogoutUris: kilnUrls('/'),
      anyLoopbackPort: identity === undefined && kilnUrl === undefined,
      ...identity,
      logger,
    }),
    stripe: await createStripeStandIn({
      pageUrl: `${origin}/${CHECKOUT}`,
      webhookUrl: kilnUrl === undefined ? null : `${kilnUrl}/payment/webhook`,
      ...stripe,
      dataDir,
      logger,
    }),
  };
}

/** Answers a page for people; false when the path is none of theirs. */
function servePeople(
  { identity, stripe }: PeoplePart,
  path: string,
  to: { readonly request: IncomingMessage; readonly response: ServerResponse; readonly logger: Logger },
): boolean {
  const { request, response, logger } = to;
  if (path.startsWith(`/${IDENTITY}/`)) {
    request.url = path.slice(IDENTITY.length + 1);
    identity.handle(request, response).catch((thrown: unknown) => failRequest(response, thrown, logger));
    return true;
  }
  const [, sessionId] = new RegExp(`^/${CHECKOUT}/(\\w+)(?:\\?|$)`).exec(path) ?? [];
  if (sessionId === undefined) return false;
  stripe.page(sessionId, request, response);
  return true;
}

/** What the gateway mounts below /sandbox: the pages for people, and the sandbox's own. */
function createBrowserPart(people: PeoplePart, page: Sandbox['browser'], logger: Logger): Sandbox['browser'] {
  const prefix = '/sandbox';
  return (request, response, next) => {
    const { url = '/' } = request;
    const isTheirs =
      url.startsWith(`${prefix}/`) &&
      servePeople(people, url.slice(prefix.length), { request, response, logger });
    if (!isTheirs) page(request, response, next);
  };
}

async function reset(runners: readonly JobRunner[], steps: readonly (() => unknown)[]): Promise<void> {
  await Promise.all(runners.map((runner) => runner.stop()));
  for (const step of steps) await step();
  for (const runner of runners) runner.resume();
}

interface Serving {
  readonly wires: ReadonlyMap<string, Wire>;
  readonly faults: Faults;
  readonly origin: string;
  readonly control: Control;
  readonly people: PeoplePart | null;
  readonly logger: Logger;
}

/** A request for a WebSocket, led to the stand-in that it is for. */
function upgrade(
  { wires, faults, origin }: Pick<Serving, 'wires' | 'faults' | 'origin'>,
  { request, socket, head }: Pick<WireUpgrade, 'request' | 'socket' | 'head'>,
): void {
  const url = new URL(request.url ?? '/', origin);
  const [, mount = '', path = ''] = /^\/([^/]*)(.*)$/.exec(url.pathname) ?? [];
  const wire = wires.get(mount);
  if (wire?.upgrade === undefined) return void socket.end('HTTP/1.1 404 Not Found\r\n\r\n');
  if (faults.take(wire.name, 'socket') !== null) return void socket.destroy();
  wire.upgrade({ path, query: url.searchParams, request, socket, head });
}

/** The first path segment says which stand-in; `_control` is the tests' door. */
async function serve(serving: Serving, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', serving.origin);
  const [, mount = '', rest = ''] = /^\/([^/]*)(.*)$/.exec(url.pathname) ?? [];
  if (mount === '_control') return serving.control.serve(rest, request, response);
  const { people, logger } = serving;
  if (people !== null && servePeople(people, `${url.pathname}${url.search}`, { request, response, logger }))
    return;
  if (people !== null && mount === STRIPE_API) return people.stripe.serve(request, response);
  const wire = serving.wires.get(mount);
  if (wire === undefined) return sendAnswer(response, text(`no stand-in ${mount}`, 404));
  try {
    const { faults, origin } = serving;
    const path = rest;
    await serveWire(
      { wire, faults, origin, path, query: url.searchParams, maxBodyBytes: MAX_BODY_BYTES },
      request,
      response,
    );
  } catch (error) {
    if (!(error instanceof BodyTooLarge)) throw error;
    response.setHeader('connection', 'close');
    await sendAnswer(response, wire.refuse(413, error.message));
  }
}
