import { readFileSync } from 'node:fs';

import { z } from 'zod';

import { toError } from '../errors.ts';
import type { Report } from './settings/setting.ts';

const workflow = z.string().regex(/^(image|video|comfy:.+)$/, 'must be image, video or comfy:NAME');
const names = z.record(
  z.string().min(1).max(200),
  z.union([
    workflow.transform((name) => ({ workflow: name, parameters: {} })),
    z.strictObject({ workflow, parameters: z.record(z.string(), z.json()).default({}) }),
  ]),
);

/** Names of workflows that other systems use: ours for each, with parameters that are always set. */
export type WorkflowNames = z.output<typeof names>;

const MAX_BYTES = 1024 * 1024;

/** Reads WORKFLOW_NAMES: {"their name": "image"} or {"their name": {"workflow": "video", "parameters": {...}}}. */
export function readWorkflowNames(path: string | null, report: Report): WorkflowNames {
  if (path === null) return {};
  try {
    const text = readFileSync(path, 'utf8');
    if (text.length > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
    const parsed = names.safeParse(JSON.parse(text.replace(/^\uFEFF/, '')));
    if (parsed.success) return parsed.data;
    report('WORKFLOW_NAMES', `names a file with mistakes: ${z.prettifyError(parsed.error)}`);
  } catch (error) {
    report('WORKFLOW_NAMES', `names a file that can't be read: ${toError(error).message}`);
  }
  return {};
}
