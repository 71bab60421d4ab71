import { isDeepStrictEqual } from 'node:util';

import { z } from 'zod';

import { AppError } from '../../platform/errors.ts';
import type { JsonObject } from '../../platform/json.ts';
import { templateInput } from '../../rest-compat/media/shared/video-template.ts';
import bundled from '../../subgraphs/media/video-templates/bundled-video-templates.json' with { type: 'json' };
import type {
  VideoTemplate,
  VideoTemplateChange,
  VideoTemplateService,
} from '../../subgraphs/media/video-templates/video-template.ts';
import { checkedAnswer, type ReadOld } from './old-service.ts';
import type { Report } from './report.ts';

/** Takes the video template catalog over: every page, additional fields included. */

const PAGE_SIZE = 100;
/** Most pages that are read: a service that never ends its list must not keep us. */
const MAX_PAGES = 1_000;

const page = z.object({
  data: z.array(z.record(z.string(), z.json())),
  total_pages: z.int().min(0),
});

/** What is needed to take video templates over. */
export interface VideoTemplateImport {
  readonly read: ReadOld;
  readonly service: Pick<VideoTemplateService, 'living' | 'create' | 'update'>;
  readonly report: Report;
  readonly dryRun: boolean;
}

/** Takes over every video template; one that is refused is reported and does not stop the rest. */
export async function importVideoTemplates(parts: VideoTemplateImport): Promise<void> {
  for (let number = 1; number <= MAX_PAGES; number += 1) {
    const path = `/api/template/default?page=${number}&page_size=${PAGE_SIZE}`;
    const { data, total_pages } = checkedAnswer(page, await parts.read(path), path);
    for (const item of data) await importOne(parts, item);
    if (number >= total_pages || data.length === 0) return;
  }
}

async function importOne(parts: VideoTemplateImport, item: JsonObject): Promise<void> {
  const { report } = parts;
  const kind = 'video template';
  const id = parseName(item['task_type'] ?? item['id']);
  try {
    const { outcome, reasons } = await take(parts, toChange(item));
    report.add({ kind, id, outcome, reasons });
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code === 'UNAVAILABLE') throw thrown;
    report.add({ kind, id, outcome: 'not taken over', reasons: [thrown.message] });
  }
}

function parseName(value: JsonObject[string] | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

type Change = VideoTemplateChange & { readonly taskType: string };

async function take({ service, dryRun }: VideoTemplateImport, change: Change) {
  const present = await service.living(change.taskType);
  if (present === null) {
    if (!dryRun) await service.create(change);
    return { outcome: 'taken over', reasons: [] } as const;
  }
  const reasons = differences(present, change);
  if (reasons.length === 0) return { outcome: 'already there', reasons } as const;
  if (!isUntouchedBundled(present)) return { outcome: 'conflict', reasons } as const;
  if (!dryRun) await service.update(String(present.id), change);
  return { outcome: 'taken over', reasons: [] } as const;
}

/** Members that are not answered, or null, are not taken over; types that the documents do not say are refused. */
function toChange(item: JsonObject): Change {
  const known = Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null));
  const named = ['task_type', 'prompt', 'cover_url', 'video_url', 'aspect_ratio', 'presetPrompts'];
  for (const name of named) {
    const value = known[name];
    if (value !== undefined && typeof value !== 'string') {
      throw new AppError('BAD_USER_INPUT', `${name} is no text there: ${JSON.stringify(value)}`);
    }
  }
  const { taskType, ...change } = templateInput(known, known);
  if (typeof taskType !== 'string') throw new AppError('BAD_USER_INPUT', 'it has no task_type there');
  return { ...change, taskType } as Change;
}

const comparedMembers = ['prompt', 'coverUrl', 'videoUrl', 'aspectRatio', 'presetPrompts'] as const;

function differences(present: VideoTemplate, change: Change): readonly string[] {
  const members = comparedMembers.filter(
    (member) => change[member] !== undefined && !isDeepStrictEqual(present[member], change[member]),
  );
  const fields = Object.entries(change.fields ?? {})
    .filter(([name, value]) => !isDeepStrictEqual(present.fields[name], value))
    .map(([name]) => name);
  return [...members, ...fields].map((name) => `${name} is another one here`);
}

/** A template that Kiln brought along and nobody has changed makes way for the one that is taken over. */
function isUntouchedBundled(present: VideoTemplate): boolean {
  const entry = bundled.find(({ taskType }) => taskType === present.taskType);
  if (entry === undefined) return false;
  const { prompt, aspectRatio, presetPrompts, fields } = present;
  return isDeepStrictEqual({ taskType: present.taskType, prompt, aspectRatio, presetPrompts, fields }, entry);
}
