import type { composeImport } from './compose.ts';
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
  if (media !== null) {
    const read = createOldService({ ...options, http: parts.http, url: media });
    await importVideoTemplates({ ...options, read, service: parts.videoTemplates, report });
  }
  if (workflow !== null) {
    const read = createOldService({ ...options, http: parts.http, url: workflow });
    await importTemplates({ ...options, read, importer: parts.templates, report });
  }
}
