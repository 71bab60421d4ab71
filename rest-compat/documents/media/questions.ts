import { type DataOf, graphql } from '../graphql.ts';

/** The GraphQL documents that are answered at once. */

/** The models of a category or of all, of one generator or of all. */
export const Models = graphql(`
  query Models($generator: String, $category: String) {
    models(generator: $generator, category: $category) {
      model
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

/** A model of a generator, with its limits. */
export type ModelFields = DataOf<typeof Models>['models'][number];

/** The voices of a generator. */
export const Voices = graphql(`
  query Voices($generator: String!) {
    voices(generator: $generator) {
      id
      name
      language
      cloned
    }
  }
`);

/** A voice of a generator. */
export type VoiceFields = DataOf<typeof Voices>['voices'][number];

/** The same, and what the provider itself said. */
export const ProviderVoices = graphql(`
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
export const RunningNode = graphql(`
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
export const CheckPrompt = graphql(`
  query CheckPrompt($generator: String!, $prompt: String!) {
    checkPrompt(generator: $generator, prompt: $prompt) {
      allowed
      reasons
    }
  }
`);

/** Has a language model answer, and waits for all of it. */
export const Chat = graphql(`
  mutation Chat($input: ChatInput!, $idempotencyKey: String) {
    chat(input: $input, idempotencyKey: $idempotencyKey) {
      text
      toolCalls {
        id
        name
        arguments
      }
      media {
        url
      }
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
export const Health = graphql(`
  query Health {
    health {
      service
      version
      time
      checks
      generators {
        generator
        state
      }
    }
  }
`);

/** What was used and what it cost, in groups. */
export const UsageTotals = graphql(`
  query UsageTotals($by: [UsageDimension!]!, $from: DateTime, $to: DateTime, $sandbox: Boolean) {
    usage(by: $by, from: $from, to: $to, sandbox: $sandbox) {
      day
      model
      generator
      provider
      owner
      key
      succeeded
      failed
      cancelled
      attempts
      chats
      unpriced
      cost {
        amount
        currency
        units {
          pictures
          seconds
          characters
          inputTokens
          cachedTokens
          outputTokens
          runs
          gpuSeconds
        }
      }
    }
  }
`);

/** The totals of one group. */
export type UsageTotal = DataOf<typeof UsageTotals>['usage'][number];
