import { z } from 'zod';

import { parseJson } from '../../../../platform/json.ts';
import { nodeStage, type RunningNode } from '../../domain/words/stages.ts';
import type { WatchedProgress } from '../contract/provider.ts';
import type { PromptHandle } from './handle.ts';

/** The progress of a prompt, from the messages of its server's socket. Pure. */

const message = z.object({ type: z.string(), data: z.record(z.string(), z.unknown()).default({}) });

/** State that messages update. */
export type Progress = ReturnType<typeof createProgress>;

/** Of a node that does not say how far it is. */
const UNCOUNTED = { step: null, steps: null } as const;

const ENDS = new Set(['execution_success', 'execution_error', 'execution_interrupted']);

/** The state before any node has run. */
export function createProgress({ promptId, classes, size }: PromptHandle) {
  const done = new Set<string>();
  let current: string | null = null;
  let share = 0;
  let counted: Pick<RunningNode, 'step' | 'steps'> = UNCOUNTED;

  const enter = (node: string) => {
    if (node === current) return;
    if (current !== null) done.add(current);
    current = node;
    share = 0;
    counted = UNCOUNTED;
  };
  const show = (): WatchedProgress | null => {
    if (current === null) return null;
    const total = Math.max(size, done.size + 1);
    const finished = [...done].filter((node) => node !== current).length;
    const progress = Math.min(99, Math.floor((100 * (finished + share)) / total));
    const classType = classes[current] ?? null;
    return { progress, stage: nodeStage({ nodeId: current, classType, ...counted }) };
  };
  const count = (value: unknown, max: unknown) => {
    if (typeof value !== 'number' || typeof max !== 'number' || !(max > 0)) return;
    share = Math.min(1, Math.max(0, value / max));
    counted = max > 1 ? { step: value, steps: max } : UNCOUNTED;
  };
  // To a client that comes late the server names the running node without its prompt; no other prompt has our client id.
  const isOurs = ({ type, data }: z.output<typeof message>): boolean =>
    (data['prompt_id'] ?? (type === 'executing' ? promptId : null)) === promptId;
  return {
    /** The progress so far with the image of a binary frame; null where no node runs or the frame has no image. */
    takeImage: (frame: Buffer): WatchedProgress | null => {
      const image = imageIn(frame);
      const now = image === null ? null : show();
      return image === null || now === null ? null : { ...now, image };
    },
    /** Reads one text frame; returns the progress to show, `ended` when the prompt has ended, null for anything else. */
    take: (frame: string): WatchedProgress | 'ended' | null => {
      const parsed = message.safeParse(parseJson(frame));
      if (!parsed.success || !isOurs(parsed.data)) return null;
      const { type, data } = parsed.data;
      const node = typeof data['node'] === 'string' ? data['node'] : null;
      if (ENDS.has(type) || (type === 'executing' && data['node'] === null)) return 'ended';
      if (type === 'execution_cached') for (const id of readList(data['nodes'])) done.add(id);
      else if (type === 'executed' && node !== null) done.add(node);
      else if (type === 'executing' && node !== null) enter(node);
      else if (type === 'progress') {
        if (node !== null) enter(node);
        count(data['value'], data['max']);
      } else if (type === 'progress_state') {
        for (const [id, state] of readStates(data['nodes'])) {
          if (state.state === 'finished') done.add(id);
          else if (state.state === 'running') {
            enter(id);
            count(state.value, state.max);
          }
        }
      } else return null;
      return show();
    },
  };
}

/** The kind of a frame with a preview, and the formats of the image in it: JPEG and PNG. */
const PREVIEW = 1;
const FORMATS: readonly number[] = [1, 2];
const HEAD_BYTES = 8;

/** The image of a preview: its kind, its format and its bytes. */
function imageIn(frame: Buffer): Buffer | null {
  if (frame.length <= HEAD_BYTES || frame.readUInt32BE(0) !== PREVIEW) return null;
  return FORMATS.includes(frame.readUInt32BE(4)) ? frame.subarray(HEAD_BYTES) : null;
}

const nodeStates = z.record(
  z.string(),
  z.object({ state: z.string(), value: z.number().nullish(), max: z.number().nullish() }),
);

function readStates(value: unknown) {
  const parsed = nodeStates.safeParse(value);
  return parsed.success ? Object.entries(parsed.data) : [];
}

function readList(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((id) => typeof id === 'string') : [];
}
