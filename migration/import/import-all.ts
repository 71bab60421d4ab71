import { badInput } from '../../platform/errors.ts';
import type { composeImport } from './compose.ts';
import { importHistory, readUsers } from './history.ts';
import { createOldService } from './old-service.ts';
import type { ImportOptions } from './options.ts';
import type { Report } from './report.ts';
import { importTemplates } from './templates.ts';
import { importVideoTemplates } from './video-templates.ts';

/** Takes over what the options name, in order. Rejects when a service is away; the report has what was done before. */
export async function importAll(
  parts: Awaited<ReturnType<typeof composeImport>>,
  options: ImportOptions,
  report: Report,
): Promise<void> {
  const { media, workflow } = options;
  const users = options.users === null ? [] : await readUsers(options.users);
  if (users.length > 0 && parts.areFileAddressesTemporary) {
    throw badInput('users', '--users needs file addresses that do not end: FILES_URL_TTL must be 0 or unset');
  }
  if (media !== null) {
    const read = createOldService({ ...options, http: parts.http, url: media });
    await importVideoTemplates({ ...options, read, service: parts.videoTemplates, report });
  }
  if (workflow !== null) {
    const read = createOldService({ ...options, http: parts.http, url: workflow });
    await importTemplates({ ...options, read, importer: parts.templates, report });
    const origins = [media, workflow].flatMap((url) => (url === null ? [] : [new URL(url).origin]));
    const copier = options.copyFiles ? parts.copierFrom(origins) : null;
    await importHistory({ ...options, read, stored: parts.stored, copier, report }, users);
  }
}
