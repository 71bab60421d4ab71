import type { EventBus } from '../../../../platform/events/event-bus.ts';
import type { Logger } from '../../../../platform/process/logger.ts';
import type { Binding } from '../bindings/binding.ts';
import { watchedProvider } from './watched-provider.ts';

/**
 * Which bindings' credentials their upstreams refuse: logged for operators, and remembered until they are accepted again
 * or every process has restarted. All processes know what one of them met.
 */
export type CredentialRefusals = ReturnType<typeof createCredentialRefusals>;

/** Topics of the bus; the key is the name of a binding, the version a time in milliseconds. */
const REFUSED_TOPIC = 'credentials-refused';
const ACCEPTED_TOPIC = 'credentials-accepted';

/** Milliseconds between two log lines about one binding: its running work is polled again and again. */
const LOG_PAUSE_MS = 60_000;

/** What upstreams have said of models since they last answered for these, in all processes. */
export function createCredentialRefusals({
  bus,
  logger,
}: {
  readonly bus: EventBus;
  readonly logger: Logger;
}) {
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
    /** The same bindings; what their upstreams say of their credentials and models is noted. */
    watch: (bindings: readonly Binding[]): readonly Binding[] =>
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
    /** When those of the binding of this name were refused last; null when they are accepted, as far as is known. */
    refusedAt(binding: string): Date | null {
      const at = refused.get(binding);
      return at === undefined ? null : new Date(at);
    },
    /** Their models that their upstreams do not have. */
    models,
    close(): void {
      models.close();
      for (const stop of stops) stop();
    },
  };
}

/** A model that a binding's upstream does not have (any more), or not for the binding's credentials. */
interface GoneModel {
  readonly model: string;
  readonly at: Date;
}

/** A refusal of a model, as it is reported to operators. */
export interface ModelRefusal extends GoneModel {
  readonly binding: Pick<Binding, 'name' | 'generator' | 'sandbox'> & {
    readonly provider: { readonly name: string };
  };
  /** What the upstream said. */
  readonly said: string;
}

/** Topics of the bus; the key is the name of a binding and a model, the version a time in milliseconds. */
const GONE_TOPIC = 'model-gone';
const THERE_TOPIC = 'model-there';

/** Most models that are remembered: a binding of GENERATORS_FILE may offer any. */
const MAX_MODELS = 500;

/** What upstreams have said of models since they last answered for these, in all processes. */
function createGoneModels({ bus, logger }: { readonly bus: EventBus; readonly logger: Logger }) {
  const gone = new Map<string, number>();
  const listeners: ((refusal: ModelRefusal) => void)[] = [];
  const stops = [
    bus.listen(GONE_TOPIC, (key, at) => {
      if (gone.size < MAX_MODELS || gone.has(key)) gone.set(key, at);
    }),
    bus.listen(THERE_TOPIC, (key) => void gone.delete(key)),
  ];
  return {
    noteGone(binding: Binding, model: string, said: string): void {
      const { name, provider, settings, generator } = binding;
      const key = formatKey(name, model);
      if (gone.has(key)) return;
      const fields = {
        provider: provider.name,
        model,
        binding: name,
        generator,
        setting: settings,
        reason: said,
      };
      logger.error(fields, 'a provider does not have a model: other bindings are asked; name another model');
      const at = Date.now();
      gone.set(key, at);
      bus.publish(GONE_TOPIC, key, at);
      for (const listener of listeners) listener({ binding, model, said, at: new Date(at) });
    },
    noteThere({ name, provider }: Binding, model: string): void {
      const key = formatKey(name, model);
      if (!gone.delete(key)) return;
      logger.info({ provider: provider.name, model, binding: name }, 'a provider has a model again');
      bus.publish(THERE_TOPIC, key, Date.now());
    },
    /** Those of the binding of this name. */
    of: (binding: string): readonly GoneModel[] =>
      [...gone].flatMap(([key, at]) =>
        key.startsWith(`${binding} `) ? [{ model: key.slice(binding.length + 1), at: new Date(at) }] : [],
      ),
    /** Calls the listener when this process first receives one. */
    onGone: (listener: (refusal: ModelRefusal) => void): void => void listeners.push(listener),
    close(): void {
      for (const stop of stops) stop();
    },
  };
}

/** Names of bindings have no space in them. */
function formatKey(binding: string, model: string): string {
  return `${binding} ${model}`;
}
