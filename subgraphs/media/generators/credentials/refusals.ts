import type { EventBus } from '../../../../platform/events/event-bus.ts';
import type { Logger } from '../../../../platform/process/logger.ts';
import type { Binding } from '../bindings/binding.ts';
import { createGoneModels, type GoneModels } from './gone-models.ts';
import { watchedProvider } from './watched-provider.ts';

/**
 * Which bindings' credentials their upstreams refuse: logged for operators, and remembered until they are accepted again
 * or every process has restarted. All processes know what one of them met.
 */
export interface CredentialRefusals {
  /** The same bindings; what their upstreams say of their credentials and models is noted. */
  watch(bindings: readonly Binding[]): readonly Binding[];
  /** When those of the binding of this name were refused last; null when they are accepted, as far as is known. */
  refusedAt(binding: string): Date | null;
  /** Their models that their upstreams do not have. */
  readonly models: Pick<GoneModels, 'of' | 'onGone'>;
  close(): void;
}

/** Topics of the bus; the key is the name of a binding, the version a time in milliseconds. */
const REFUSED_TOPIC = 'credentials-refused';
const ACCEPTED_TOPIC = 'credentials-accepted';

/** Milliseconds between two log lines about one binding: its running work is polled again and again. */
const LOG_PAUSE_MS = 60_000;

/** Makes the memory of one process. */
export function createCredentialRefusals({
  bus,
  logger,
}: {
  readonly bus: EventBus;
  readonly logger: Logger;
}): CredentialRefusals {
  const refused = new Map<string, number>();
  const logged = new Map<string, number>();
  const models = createGoneModels({ bus, logger });
  const stops = [
    bus.listen(REFUSED_TOPIC, (name, at) => void refused.set(name, at)),
    bus.listen(ACCEPTED_TOPIC, (name) => void refused.delete(name)),
  ];

  function noteRefusal({ name, provider, settings }: Binding, message: string): void {
    const now = Date.now();
    if (now - (logged.get(name) ?? 0) >= LOG_PAUSE_MS) {
      logged.set(name, now);
      const fields = { provider: provider.name, setting: settings, binding: name, reason: message };
      logger.error(fields, 'a provider refuses our credentials: check the setting');
    }
    bus.publish(REFUSED_TOPIC, name, now);
  }

  function noteAcceptance({ name, provider }: Binding): void {
    if (!refused.has(name)) return;
    logged.delete(name);
    logger.info({ provider: provider.name, binding: name }, 'a provider accepts our credentials again');
    bus.publish(ACCEPTED_TOPIC, name, Date.now());
  }

  return {
    watch: (bindings) =>
      bindings.map((binding) => ({
        ...binding,
        provider: watchedProvider(binding.provider, {
          accepted: (model) => {
            noteAcceptance(binding);
            if (model !== null) models.noteThere(binding, model);
          },
          refused: ({ message }) => noteRefusal(binding, message),
          gone: (model, { message }) => models.noteGone(binding, model, message),
        }),
      })),
    refusedAt(binding) {
      const at = refused.get(binding);
      return at === undefined ? null : new Date(at);
    },
    models,
    close() {
      models.close();
      for (const stop of stops) stop();
    },
  };
}
