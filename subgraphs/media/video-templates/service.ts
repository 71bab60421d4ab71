import { LRUCache } from 'lru-cache';

import { isUniqueViolation } from '../../../platform/database/database.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import type { EventBus } from '../../../platform/events/event-bus.ts';
import type { MediaDatabase } from '../database/database.ts';
import bundled from './bundled-video-templates.json' with { type: 'json' };
import { createVideoTemplateStore, type NewVideoTemplate, type VideoTemplateStore } from './store.ts';
import {
  checkedFields,
  checkedFilter,
  checkedPresetPrompts,
  checkedQuery,
  checkedTaskType,
  checkedText,
  type VideoTemplate,
  type VideoTemplateChange,
  type VideoTemplateService,
} from './video-template.ts';

/**
 * The video template catalog: its rules. What a recipe makes of a template is in ../recipes; a task keeps its own copy
 * of what it used, so nothing here reaches back into tasks. With a bus, the template of a task type is kept for a while.
 */
export function createVideoTemplateService(database: MediaDatabase, bus?: EventBus): VideoTemplateService {
  const store = createVideoTemplateStore(database);
  const living = createLivingTemplates(store, bus);
  const forgetting = async <Result>(change: Promise<Result>): Promise<Result> => {
    try {
      return await change;
    } finally {
      living.forget();
    }
  };
  return {
    async list(query) {
      const checked = checkedFilter(query);
      const found = await store.after({ ...checked, first: query.first + 1 });
      const items = found.slice(0, query.first);
      return { items, hasNextPage: found.length > items.length, count: () => store.count(checked) };
    },
    page: async (query) => {
      const checked = checkedQuery(query);
      return { ...(await store.page(checked)), page: checked.page, pageSize: checked.pageSize };
    },
    byIds: (ids) => readByIds(store, ids),
    living: (taskType) => living.find(taskType.trim()),
    isAvailable: async (taskType) => (await store.living(checkedTaskType(taskType))) === null,
    create: (change) => forgetting(create(store, change)),
    update: async (id, change) => {
      const checked = checkedChange(change);
      const written = refusingTaken(checked.taskType, () => store.update(parseNumber(id), checked));
      const template = await forgetting(written);
      return template ?? missing(id);
    },
    remove: async (id) => (await forgetting(store.markDeleted(parseNumber(id)))) ?? missing(id),
    importBundled: () => store.insertMissing(bundled.map((template) => ({ ...empty, ...template }))),
  };
}

const empty: Omit<NewVideoTemplate, 'taskType'> = {
  prompt: null,
  coverUrl: null,
  videoUrl: null,
  aspectRatio: null,
  presetPrompts: [],
  fields: {},
};

async function create(store: VideoTemplateStore, change: VideoTemplateChange): Promise<VideoTemplate> {
  const taskType = checkedTaskType(change.taskType);
  const template = { ...empty, ...checkedChange(change), taskType };
  return refusingTaken(taskType, () => store.insert(template));
}

async function readByIds(
  store: VideoTemplateStore,
  ids: readonly string[],
): Promise<readonly (VideoTemplate | null)[]> {
  const found = await store.byIds(ids.map(parseNumber).filter((id) => id > 0));
  const byId = new Map(found.map((template) => [template.id, template]));
  return ids.map((id) => byId.get(parseNumber(id)) ?? null);
}

/** The given members, checked; absent ones stay absent. */
function checkedChange(change: VideoTemplateChange): Partial<NewVideoTemplate> {
  const { taskType, prompt, coverUrl, videoUrl, aspectRatio, presetPrompts, fields } = change;
  return {
    ...(taskType === undefined ? {} : { taskType: checkedTaskType(taskType) }),
    ...(prompt === undefined ? {} : { prompt: checkedText('prompt', prompt) }),
    ...(coverUrl === undefined ? {} : { coverUrl: checkedText('coverUrl', coverUrl) }),
    ...(videoUrl === undefined ? {} : { videoUrl: checkedText('videoUrl', videoUrl) }),
    ...(aspectRatio === undefined ? {} : { aspectRatio: checkedText('aspectRatio', aspectRatio) }),
    ...(presetPrompts === undefined ? {} : { presetPrompts: checkedPresetPrompts(presetPrompts) }),
    ...(fields === undefined || fields === null ? {} : { fields: checkedFields(fields) }),
  };
}

/** Turns the unique index's refusal into the caller's error; two creates at once can only be told apart there. */
async function refusingTaken<Result>(
  taskType: string | undefined,
  write: () => Promise<Result>,
): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new AppError('CONFLICT', `task type ${JSON.stringify(taskType)} is taken by a living template`, {
      field: 'taskType',
      cause: error,
    });
  }
}

/** The id as the table has it; 0 for anything that can be no id of ours. */
function parseNumber(id: string): number {
  return /^[1-9]\d{0,9}$/.test(id) && Number(id) <= 2_147_483_647 ? Number(id) : 0;
}

function missing(id: string): never {
  throw notFound('video template', id);
}

/** Living templates by their task type: every submission of a recipe asks for one, and they seldom change. */
interface LivingTemplates {
  /** The living template; null when there is none, which is never kept. */
  find(taskType: string): Promise<VideoTemplate | null>;
  /** Forgets all, in every process: after each change. */
  forget(): void;
}

const MAX_TEMPLATES = 500;
/** Wake-ups may be lost. */
const FRESH_MS = 5_000;
const TOPIC = 'video-templates';

/** Makes the cache; without a bus nothing is kept. */
function createLivingTemplates(
  store: Pick<VideoTemplateStore, 'living'>,
  bus: EventBus | undefined,
): LivingTemplates {
  if (bus === undefined) return { find: (taskType) => store.living(taskType), forget: () => undefined };
  const known = new LRUCache<string, VideoTemplate>({ max: MAX_TEMPLATES, ttl: FRESH_MS });
  let changes = 0;
  const clear = (): void => {
    changes += 1;
    known.clear();
  };
  bus.listen(TOPIC, clear);
  bus.onGap(clear);
  return {
    async find(taskType) {
      const cached = known.get(taskType);
      if (cached !== undefined) return cached;
      const before = changes;
      const template = await store.living(taskType);
      // What was read before a change must not stay after it.
      if (template !== null && before === changes) known.set(taskType, template);
      return template;
    },
    forget() {
      clear();
      bus.publish(TOPIC, 'all', Date.now());
    },
  };
}
