import path from 'node:path';

import { sandboxAddresses, type SandboxAddresses } from '../platform/config/sandbox-addresses.ts';
import { once } from '../platform/once.ts';
import type { LatencyChange } from './control/control.ts';
import { createFaults, type FaultInput, type Faults } from './faults/faults.ts';
import { listen } from './http/listener.ts';
import { createReceived, type Received } from './http/received.ts';
import { hasEnded } from './jobs/job.ts';
import { type Journal, openJournal } from './jobs/journal.ts';
import {
  createPlatformStandIns,
  type PlatformStandIns,
  type SandboxPlatforms,
} from './platforms/platforms.ts';
import { serve, upgrade } from './serve.ts';
import type { Secrets } from './stand-ins.ts';
import { createStatusPage } from './status-page.ts';
import type { StripeStandIn } from './stripe/stripe.ts';
import type { Upstreams } from './upstreams.ts';
import {
  createBrowserHandler,
  IDENTITY,
  openUserPages,
  type BrowserHandler,
  type UserPagesOptions,
  type UserPages,
} from './user-pages.ts';

/**
 * All stand-ins behind one listener: the providers' wire protocols, with a journal that survives a crash, fault injection,
 * and a studio that makes real media. It listens on loopback only.
 */
export interface Sandbox {
  /** Origin of the listener. */
  readonly url: string;
  /** Base URL of each stand-in, as its provider's setting takes it. */
  readonly wires: SandboxAddresses;
  /** The identity provider's issuer. Also served at `identityUrl`. */
  readonly issuer: string;
  /** The identity provider's address at this listener, for Kiln itself. */
  readonly identityUrl: string;
  /** The platforms of mini-programs. */
  readonly platforms: SandboxPlatforms;
  /** The stand-in for Stripe. */
  readonly stripe: StripeStandIn;
  /** The pages for browsers, mounted under /sandbox by the gateway. It never reaches /_control. */
  readonly browser: BrowserHandler;
  /** Stops listening, stops the jobs (they stay open in the journal) and ends the workers. */
  close(): Promise<void>;
}

export interface SandboxOptions extends UserPagesOptions {
  /** Journal and images; made when absent. One process at a time. */
  readonly dataDir: string;
  /** Loopback only: 127.0.0.1 (default) or ::1. */
  readonly host?: '127.0.0.1' | '::1';
  /** 0 (default) takes a free one. */
  readonly port?: number;
  /** Rendering processes (default 1). */
  readonly workers?: number;
  /** `small` halves the edges of images (default normal). */
  readonly size?: 'normal' | 'small';
  /** Serve one plain tiny image instead of rendering: for tests with hundreds of tasks. */
  readonly instantImages?: boolean;
  /** The credentials that the stand-ins require; without one every caller is accepted. */
  readonly secrets?: Secrets;
  /** Initial latencies and faults, as /_control takes them. */
  readonly latencies?: readonly LatencyChange[];
  readonly faults?: readonly FaultInput[];
  /** Ended jobs kept (default 10,000) and for how many milliseconds (default 7 days). */
  readonly retention?: { readonly maxJobs?: number; readonly maxAgeMs?: number };
}

const WEEK_MS = 7 * 24 * 3_600_000;
/** Words of jobs are kept as long after their end, as callers may ask for them until then. */
const WORDS_MS = 3_600_000;
const FORGET_EVERY_MS = 600_000;

/** Opens the journal and listens; jobs of an earlier process that are still open go on. */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { logger } = options;
  const journal = await openJournal({
    directory: path.join(options.dataDir, 'journal'),
    maxJobs: options.retention?.maxJobs ?? 10_000,
    maxAgeMs: options.retention?.maxAgeMs ?? WEEK_MS,
    logger,
  });
  const forgetting = setInterval(() => {
    journal
      .forget(WORDS_MS)
      .catch((error: unknown) => logger.warn({ error }, 'the journal keeps what is too old'));
  }, FORGET_EVERY_MS).unref();
  let origin = '';
  const platforms = createPlatformStandIns();
  const calls = { faults: createFaults(), received: createReceived() };
  const upstreams = once(() => load(options, { journal, platforms, ...calls, readOrigin: () => origin }));
  let people: UserPages | null = null;
  const listener = await listen({
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 0,
    logger,
    serve: (request, response) =>
      serve(
        { upstreams, platforms: platforms.wires, ...calls, origin, userPages: people, logger },
        request,
        response,
      ),
    upgrade: (request, socket, head) => {
      upstreams()
        .then(({ wires }) => upgrade({ wires, faults: calls.faults, origin }, { request, socket, head }))
        .catch(() => socket.destroy());
    },
  });
  origin = listener.origin;
  people = await openUserPages(options, origin);
  const { identity, stripe } = people;
  if (isNeededAtOnce(options, journal)) await upstreams();
  return {
    url: origin,
    wires: sandboxAddresses(origin),
    issuer: identity.issuer,
    identityUrl: `${origin}/${IDENTITY}`,
    platforms: platforms.at(origin),
    stripe,
    browser: createBrowserHandler(people, statusPage(upstreams, journal), logger),
    async close() {
      clearInterval(forgetting);
      await listener.close();
      await stripe.close();
      await (await upstreams.kept())?.close();
      await journal.settle();
    },
  };
}

/** Open jobs go on, and mistakes in what was asked for are told. Else a start need not wait for two hundred modules. */
function isNeededAtOnce({ latencies, faults }: SandboxOptions, journal: Journal): boolean {
  return latencies !== undefined || faults !== undefined || journal.all().some((job) => !hasEnded(job));
}

async function load(
  options: SandboxOptions,
  parts: {
    readonly journal: Journal;
    readonly platforms: PlatformStandIns;
    readonly faults: Faults;
    readonly received: Received;
    readonly readOrigin: () => string;
  },
): Promise<Upstreams> {
  const { logger, secrets = {}, latencies = [], faults = [], workers = 1, size = 'normal' } = options;
  const { platforms, readOrigin, ...rest } = parts;
  const { openUpstreams } = await import('./upstreams.ts');
  return openUpstreams({
    ...rest,
    logger,
    secrets,
    latencies,
    initialFaults: faults,
    platforms: platforms.wires,
    baseUrl: (mount) => `${readOrigin()}/${mount}`,
    instantImages: options.instantImages ?? false,
    workers,
    size,
  });
}

function statusPage(upstreams: () => Promise<Upstreams>, journal: Journal): BrowserHandler {
  return (request, response, next) => {
    upstreams()
      .then(({ wires }) => createStatusPage({ wires: [...wires.values()], journal })(request, response, next))
      .catch((error: unknown) => (next === undefined ? response.destroy() : next(error)));
  };
}
