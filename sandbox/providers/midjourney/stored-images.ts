import { bytes, text } from '../../http/answer.ts';
import type { WireRoute } from '../../http/wire.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Job } from '../../jobs/job.ts';
import type { Journal } from '../../jobs/journal.ts';
import { previewName } from '../shared/perform.ts';
import { createUrlExpiry } from '../shared/results.ts';

/** The URLs of this wire's images. A URL may expire; the next status then has a new one. */
export interface StoredImages {
  /** The image, its preview while the job runs, the input of a describe job; null while there is none. */
  toUrl(job: Job, baseUrl: string): string | null;
  readonly download: WireRoute['handle'];
}

/** Creates the image URLs of one runner's jobs. */
export function createImages(journal: Journal, runner: JobRunner): StoredImages {
  const expiry = createUrlExpiry();
  return {
    toUrl(job, baseUrl) {
      const name = findName(job, runner);
      return name === null
        ? null
        : `${baseUrl}/attachments/${job.id}/${expiry.currentVersion(job.id)}/${name}`;
    },
    async download({ params }, fault) {
      const { id = '', edition = '', name = '' } = params;
      const job = runner.get(id);
      if (fault?.fault === 'expired-url') expiry.expire(id);
      if (job === null || edition !== String(expiry.currentVersion(id)) || !belongsTo(name, job)) {
        return text('This content is no longer available.', 404);
      }
      const image = await journal.readImage(name);
      if (image === null) return text('Not found', 404);
      return bytes(image, findContentType(name, job));
    },
  };
}

function findName(job: Job, runner: JobRunner): string | null {
  if (job.operation === 'describe') return listInputs(job)[0] ?? null;
  if (job.state === 'finished') return job.result?.files[0]?.name ?? null;
  return job.state === 'running' && runner.hasPreview(job.id) ? previewName(job.id) : null;
}

function belongsTo(name: string, job: Job): boolean {
  const results = job.result?.files.map((file) => file.name) ?? [];
  return [...results, ...listInputs(job), previewName(job.id)].includes(name);
}

function listInputs(job: Job): string[] {
  return Array.isArray(job.input['pictures']) ? job.input['pictures'].map(String) : [];
}

function findContentType(name: string, job: Job): string {
  if (name.endsWith('.webp')) return 'image/webp';
  const file = job.result?.files.find((other) => other.name === name);
  return file?.contentType ?? 'application/octet-stream';
}
