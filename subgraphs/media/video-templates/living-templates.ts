import { LRUCache } from 'lru-cache';

import type { EventBus } from '../../../platform/events/event-bus.ts';
import type { VideoTemplateStore } from './store.ts';
import type { VideoTemplate } from './video-template.ts';

/** Living templates by their task type: every submission of a recipe asks for one, and they seldom change. */
export interface LivingTemplates {
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
export function createLivingTemplates(
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
