import { createControl, type Control, createLatencyProfiles, type LatencyChange } from './control/control.ts';
import type { FaultInput, Faults } from './faults/faults.ts';
import type { Received } from './http/received.ts';
import type { Wire } from './http/wire.ts';
import type { JobRunner } from './jobs/job-runner.ts';
import { renderListener } from './jobs/run-job.ts';
import type { StandIn } from './providers/shared/stand-in.ts';
import { createStandIns, INITIAL_LATENCIES, type StandInsOptions } from './stand-ins.ts';
import { createInstantStudio } from './studio/instant/instant-studio.ts';
import { createStudio, type StudioOptions } from './studio/studio.ts';
import type { Studio, StudioCallOptions } from './studio/types/studio.ts';

/** The stand-ins of the upstreams with their jobs, studio, faults and latencies: most of the sandbox. */
export interface Upstreams {
  /** By mount. */
  readonly wires: ReadonlyMap<string, Wire>;
  readonly control: Control;
  /** Stops the jobs, which stay open in the journal, and ends the workers. */
  close(): Promise<void>;
}

export interface UpstreamsOptions
  extends Omit<StandInsOptions, 'findLatency' | 'studio'>, Pick<StudioOptions, 'workers' | 'size'> {
  /** One plain tiny image instead of rendered ones. */
  readonly instantImages: boolean;
  /** Wires without jobs. */
  readonly platforms: readonly Wire[];
  readonly faults: Faults;
  /** What they were sent last. */
  readonly received: Received;
  /** Initial latencies and faults, as /_control takes them. */
  readonly latencies: readonly LatencyChange[];
  readonly initialFaults: readonly FaultInput[];
}

/** Creates them and runs the open jobs of an earlier process. */
export function openUpstreams(options: UpstreamsOptions): Upstreams {
  const { journal, instantImages, faults, received } = options;
  const studio = reportingStudio(instantImages ? createInstantStudio() : createStudio(options));
  for (const fault of options.initialFaults) faults.add(fault);
  const profiles = createLatencyProfiles(INITIAL_LATENCIES);
  for (const change of options.latencies) profiles.change(change);
  const standIns = createStandIns({ ...options, studio, findLatency: (wire) => profiles.of(wire) });
  const runners = standIns.map(({ runner }) => runner);
  const all = [...standIns.map(({ wire }) => wire), ...options.platforms];
  for (const runner of runners) runner.resume();
  return {
    wires: new Map(all.map((wire) => [wire.mount, wire])),
    control: createControl({
      faults,
      received,
      latencies: profiles,
      journal,
      lack: (wire, names) => lackAt(standIns, wire, names),
      reset: () =>
        reset(runners, [
          () => faults.clear(),
          () => received.clear(),
          () => profiles.reset(),
          () => standIns.forEach(({ lack }) => lack?.([])),
          () => journal.clear(),
        ]),
    }),
    async close() {
      await stopAll(runners);
      await studio.close();
    },
  };
}

function lackAt(standIns: readonly StandIn[], wire: string, names: readonly string[]): void {
  const lack = standIns.find((one) => one.wire.name === wire)?.lack;
  if (lack === undefined) throw new RangeError(`nothing is installed at ${wire}`);
  lack(names);
}

async function stopAll(runners: readonly JobRunner[]): Promise<void> {
  await Promise.all(runners.map((runner) => runner.stop()));
}

async function reset(runners: readonly JobRunner[], steps: readonly (() => unknown)[]): Promise<void> {
  await stopAll(runners);
  for (const step of steps) await step();
  for (const runner of runners) runner.resume();
}

/** The same studio; what it renders for a job also moves the progress of that job. */
function reportingStudio(studio: Studio): Studio {
  return {
    ...studio,
    image: (request, options) => studio.image(request, reporting(options)),
    video: (request, options) => studio.video(request, reporting(options)),
    speech: (request, options) => studio.speech(request, reporting(options)),
    presenter: (request, options) => studio.presenter(request, reporting(options)),
  };
}

function reporting(options: StudioCallOptions = {}): StudioCallOptions {
  const listener = renderListener();
  return {
    ...options,
    onProgress(percent, stage) {
      listener(percent);
      options.onProgress?.(percent, stage);
    },
  };
}
