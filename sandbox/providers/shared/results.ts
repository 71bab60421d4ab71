import { bytes, text } from '../../http/answer.ts';
import type { WireRoute } from '../../http/wire.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Job } from '../../jobs/job.ts';
import type { Journal } from '../../jobs/journal.ts';

/** The URLs of a wire's results; they need no key and may expire. */
export interface Results {
  /** The address of one result of a finished job; null when it has none. */
  toUrl(job: Job, baseUrl: string, index?: number): string | null;
  /** `GET /results/:id/:edition/:name`, which faults call `download`. */
  readonly route: WireRoute;
}

/** Creates the result URLs of one runner's jobs. */
export function createResults(journal: Journal, runner: JobRunner): Results {
  const expiry = createUrlExpiry();
  return {
    toUrl(job, baseUrl, index = 0) {
      const name = job.result?.files[index]?.name;
      return name === undefined
        ? null
        : `${baseUrl}/results/${job.id}/${expiry.currentVersion(job.id)}/${name}`;
    },
    route: {
      method: 'GET',
      path: '/results/:id/:edition/:name',
      operation: 'download',
      async handle({ params }, fault) {
        const { id = '', edition = '', name = '' } = params;
        if (fault?.fault === 'expired-url') expiry.expire(id);
        const file = runner.get(id)?.result?.files.find((other) => other.name === name);
        const isGood = file !== undefined && edition === String(expiry.currentVersion(id));
        const content = isGood ? await journal.readImage(name) : null;
        if (file === undefined || content === null) return text('This link has expired.', 403);
        return bytes(content, file.contentType);
      },
    },
  };
}

/** Result URLs that expire: each has a version, and only the newest is valid. */
export interface UrlExpiry {
  /** The valid version. */
  currentVersion(id: string): number;
  /** Invalidates the current URL of a job; the next answer has a new one. */
  expire(id: string): void;
}

/** Most jobs with expired URLs that are stored; older ones start again at the first version. */
const MAX_REMEMBERED = 1_000;

/** Creates the versions; every URL is valid at first. */
export function createUrlExpiry(): UrlExpiry {
  const editions = new Map<string, number>();
  const findEdition = (id: string) => editions.get(id) ?? 1;
  return {
    currentVersion: findEdition,
    expire(id) {
      editions.set(id, findEdition(id) + 1);
      const [oldest] = editions.keys();
      if (editions.size > MAX_REMEMBERED && oldest !== undefined) editions.delete(oldest);
    },
  };
}
