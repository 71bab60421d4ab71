import path from 'node:path';

import { sandboxAddresses, type SandboxAddresses } from '../platform/config/sandbox-addresses.ts';
import { createControl } from './control/control.ts';
import { createLatencyProfiles } from './control/latency-profiles.ts';
import type { LatencyChange } from './control/latency-profiles.ts';
import { createFaults } from './faults/faults.ts';
import type { FaultInput } from './faults/faults.ts';
import { listen } from './http/listener.ts';
import type { JobRunner } from './jobs/job-runner.ts';
import { openJournal } from './jobs/journal.ts';
import { createPlatformStandIns, type SandboxPlatforms } from './platforms/platforms.ts';
import { reportingStudio } from './reporting-studio.ts';
import { serve, upgrade } from './serve.ts';
import { INITIAL_LATENCIES, createStandIns } from './stand-ins.ts';
import type { Secrets } from './stand-ins.ts';
import { createStatusPage } from './status-page.ts';
import type { StripeStandIn } from './stripe/stripe.ts';
import { createInstantStudio } from './studio/instant/instant-studio.ts';
import { createStudio } from './studio/studio.ts';
import type { Studio } from './studio/types/studio.ts';
import { createBrowserHandler, IDENTITY, openUserPages } from './user-pages.ts';
import type { BrowserHandler, UserPagesOptions, UserPages } from './user-pages.ts';

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
  /** Journal and pictures; made when absent. One process at a time. */
  readonly dataDir: string;
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
  /** The credentials that the stand-ins require; without one every caller is accepted. */
  readonly secrets?: Secrets;
  /** Initial latencies and faults, as /_control takes them. */
  readonly latencies?: readonly LatencyChange[];
  readonly faults?: readonly FaultInput[];
  /** Ended jobs kept (default 10,000) and for how many milliseconds (default 7 days). */
  readonly retention?: { readonly maxJobs?: number; readonly maxAgeMs?: number };
}

const WEEK_MS = 7 * 24 * 3_600_000;

/** Opens the journal, resumes the open jobs of an earlier process, and listens. */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { logger } = options;
  const journal = await openJournal({
    directory: path.join(options.dataDir, 'journal'),
    maxJobs: options.retention?.maxJobs ?? 10_000,
    maxAgeMs: options.retention?.maxAgeMs ?? WEEK_MS,
    logger,
  });
  const studio = reportingStudio(studioOf(options));
  const faults = createFaults();
  for (const fault of options.faults ?? []) faults.add(fault);
  const profiles = createLatencyProfiles(INITIAL_LATENCIES);
  for (const change of options.latencies ?? []) profiles.change(change);
  let origin = '';
  const deps = { studio, journal, logger, baseUrl: (mount: string) => `${origin}/${mount}` };
  const standIns = createStandIns({
    ...deps,
    secrets: options.secrets ?? {},
    latencyOf: (wire) => profiles.of(wire),
  });
  const runners = standIns.map(({ runner }) => runner);
  const control = createControl({
    faults,
    latencies: profiles,
    journal,
    reset: () => reset(runners, [() => faults.clear(), () => profiles.reset(), () => journal.clear()]),
  });
  let people: UserPages | null = null;
  const platforms = await createPlatformStandIns();
  const all = [...standIns.map(({ wire }) => wire), ...platforms.wires];
  const wires = new Map(all.map((wire) => [wire.mount, wire]));
  const listener = await listen({
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 0,
    logger,
    serve: (request, response) =>
      serve({ wires, faults, origin, control, userPages: people, logger }, request, response),
    upgrade: (request, socket, head) => upgrade({ wires, faults, origin }, { request, socket, head }),
  });
  origin = listener.origin;
  people = await openUserPages(options, origin);
  const { identity, stripe } = people;
  for (const runner of runners) runner.resume();
  return {
    url: origin,
    wires: sandboxAddresses(origin),
    issuer: identity.issuer,
    identityUrl: `${origin}/${IDENTITY}`,
    platforms: platforms.at(origin),
    stripe,
    browser: createBrowserHandler(people, createStatusPage({ wires: [...wires.values()], journal }), logger),
    async close() {
      await listener.close();
      await stripe.close();
      await Promise.all(runners.map((runner) => runner.stop()));
      await studio.close();
      await journal.settle();
    },
  };
}

function studioOf({ instantImages, workers = 1, size = 'normal', logger }: SandboxOptions): Studio {
  return instantImages === true ? createInstantStudio() : createStudio({ workers, size, logger });
}

async function reset(runners: readonly JobRunner[], steps: readonly (() => unknown)[]): Promise<void> {
  await Promise.all(runners.map((runner) => runner.stop()));
  for (const step of steps) await step();
  for (const runner of runners) runner.resume();
}
