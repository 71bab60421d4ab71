import { type DataOf, graphql } from '../graphql.ts';

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
