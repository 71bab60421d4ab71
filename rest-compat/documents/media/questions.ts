import type { Json } from '../../../platform/json.ts';
import { operation } from '../../route/route.ts';

/** The GraphQL documents that are answered at once. */

/** A model of a generator, with its limits. */
export interface ModelAnswer {
  readonly id: string;
  readonly name: string;
  readonly category: string;
  readonly generator: string;
  readonly provider: string;
  readonly inputs: readonly string[];
  readonly sizes: readonly string[] | null;
  readonly durations: readonly number[] | null;
  readonly maxPrompt: number | null;
  readonly sandbox: boolean;
}

/** The models of a category or of all, of one generator or of all. */
export const Models = operation<
  { readonly models: readonly ModelAnswer[] },
  { readonly generator: string | null; readonly category: string | null }
>(/* GraphQL */ `
  query Models($generator: String, $category: String) {
    models(generator: $generator, category: $category) {
      id
      name
      category
      generator
      provider
      inputs
      sizes
      durations
      maxPrompt
      sandbox
    }
  }
`);

/** A voice of a generator. */
export interface VoiceAnswer {
  readonly id: string;
  readonly name: string;
  readonly language: string | null;
  readonly cloned: boolean;
}

/** The voices of a generator. */
export const Voices = operation<{ readonly voices: readonly VoiceAnswer[] }, { readonly generator: string }>(
  /* GraphQL */ `
    query Voices($generator: String!) {
      voices(generator: $generator) {
        id
        name
        language
        cloned
      }
    }
  `,
);

/** The same, and what the provider itself said. */
export const ProviderVoices = operation<
  { readonly voices: readonly VoiceAnswer[]; readonly providerVoices: Json },
  { readonly generator: string }
>(/* GraphQL */ `
  query ProviderVoices($generator: String!) {
    voices(generator: $generator) {
      id
      name
      language
      cloned
    }
    providerVoices(generator: $generator)
  }
`);

/** The least busy ComfyUI machine; null when none has room. */
export const RunningNode = operation<
  {
    readonly runningNode: {
      readonly node: string;
      readonly queueRunning: number;
      readonly queuePending: number;
      readonly capacity: number;
    } | null;
  },
  { readonly taskCount: number }
>(/* GraphQL */ `
  query RunningNode($taskCount: Int!) {
    runningNode(taskCount: $taskCount) {
      node
      queueRunning
      queuePending
      capacity
    }
  }
`);

/** What speaks against a prompt. */
export const CheckPrompt = operation<
  { readonly checkPrompt: { readonly allowed: boolean; readonly reasons: readonly string[] } },
  { readonly generator: string; readonly prompt: string }
>(/* GraphQL */ `
  query CheckPrompt($generator: String!, $prompt: String!) {
    checkPrompt(generator: $generator, prompt: $prompt) {
      allowed
      reasons
    }
  }
`);

/** Has a language model answer, and waits for all of it. */
export const Chat = operation<
  {
    readonly chat: {
      readonly text: string;
      readonly model: string;
      readonly provider: string;
      readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
    };
  },
  {
    readonly input: {
      readonly generator: string;
      readonly model?: string | undefined;
      readonly messages: Json;
      readonly system?: string | undefined;
      readonly temperature?: number | undefined;
      readonly maxTokens?: number | undefined;
    };
  }
>(/* GraphQL */ `
  mutation Chat($input: ChatInput!, $idempotencyKey: String) {
    chat(input: $input, idempotencyKey: $idempotencyKey) {
      text
      model
      provider
      usage {
        inputTokens
        outputTokens
      }
    }
  }
`);

/** Health of the media service. */
export const Health = operation<
  {
    readonly health: {
      readonly service: string;
      readonly version: string;
      readonly time: string;
      readonly checks: Json;
    };
  },
  object
>(/* GraphQL */ `
  query Health {
    health {
      service
      version
      time
      checks
    }
  }
`);
