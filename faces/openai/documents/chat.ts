import { type DataOf, graphql, type InputOf } from '../../../rest-compat/documents/graphql.ts';

const chatReply = graphql(`
  fragment FaceChatReply on ChatReply {
    text
    toolCalls {
      id
      name
      arguments
    }
    media {
      url
    }
    usage {
      inputTokens
      outputTokens
    }
  }
`);

/** A language model's answer. */
export type ChatReply = DataOf<typeof chatReply>;

/** Has a language model answer, and waits for all of it. */
export const FaceChat = graphql(
  `
    mutation FaceChat($input: ChatInput!, $idempotencyKey: String, $joinSeconds: Int) {
      chat(input: $input, idempotencyKey: $idempotencyKey, joinSeconds: $joinSeconds) {
        ...FaceChatReply
      }
    }
  `,
  [chatReply],
);

/** The same in pieces as they come. */
export const FaceChatStream = graphql(
  `
    subscription FaceChatStream($input: ChatInput!, $idempotencyKey: String!, $joinSeconds: Int) {
      chatStream(input: $input, idempotencyKey: $idempotencyKey, joinSeconds: $joinSeconds) {
        delta
        reply {
          ...FaceChatReply
        }
        error {
          code
          message
          field
        }
      }
    }
  `,
  [chatReply],
);

/** A piece of an answer. */
export type ChatPiece = DataOf<typeof FaceChatStream>['chatStream'];

/** A conversation so far. */
export type ChatInput = InputOf<typeof FaceChat>['input'];
