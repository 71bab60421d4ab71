import { type DataOf, graphql } from '../graphql.ts';

/** The GraphQL documents about payments. */

const paymentFields = graphql(`
  fragment PaymentFields on Payment {
    id
    userId
    status
    amount
    amountRefunded
    refunds {
      id
      amount
      reason
      status
      createdAt
    }
    currency
    ppSessionId
    createdAt
    template {
      code
    }
    executionId
    taskId
  }
`);

/** A payment, as replies report it. */
export type PaymentFields = DataOf<typeof paymentFields>;

/** Opens a checkout. */
export const OpenCheckout = graphql(`
  mutation OpenCheckout(
    $templateCode: ID!
    $userId: ID!
    $parameters: JSON!
    $successUrl: String
    $cancelUrl: String
    $idempotencyKey: String
  ) {
    checkout(
      templateCode: $templateCode
      userId: $userId
      parameters: $parameters
      successUrl: $successUrl
      cancelUrl: $cancelUrl
      idempotencyKey: $idempotencyKey
    ) {
      sessionId
      url
      payment {
        id
      }
    }
  }
`);

/** What is true of a payment now. */
export const ReconcilePayment = graphql(
  `
    mutation ReconcilePayment($id: ID, $sessionId: String) {
      reconcilePayment(id: $id, sessionId: $sessionId) {
        ...PaymentFields
      }
    }
  `,
  [paymentFields],
);

/** Ends an open checkout. */
export const CancelPayment = graphql(
  `
    mutation CancelPayment($id: ID, $sessionId: String) {
      cancelPayment(id: $id, sessionId: $sessionId) {
        ...PaymentFields
      }
    }
  `,
  [paymentFields],
);

/** One payment. */
export const PaymentById = graphql(
  `
    query PaymentById($id: ID!) {
      payment(id: $id) {
        ...PaymentFields
      }
    }
  `,
  [paymentFields],
);

/** What was bought for a user, newest first. */
export const PaymentsOfUser = graphql(
  `
    query PaymentsOfUser($userId: ID!) {
      payments(userId: $userId, first: 1000) {
        totalCount
        edges {
          node {
            ...PaymentFields
          }
        }
      }
    }
  `,
  [paymentFields],
);

/** Payments that fit a filter, newest first, with totals. */
export const Sales = graphql(
  `
    query Sales($userId: ID, $filter: PaymentFilter!, $first: Int!, $after: String) {
      payments(userId: $userId, filter: $filter, first: $first, after: $after) {
        totalCount
        sums {
          currency
          status
          count
          amount
          amountRefunded
        }
        pageInfo {
          hasNextPage
          endCursor
        }
        edges {
          node {
            ...PaymentFields
            margin {
              cost
              margin
              estimated
            }
          }
        }
      }
    }
  `,
  [paymentFields],
);

/** What Sales answers. */
export type SalesPage = NonNullable<DataOf<typeof Sales>['payments']>;

/** Gives money back. */
export const RefundPayment = graphql(`
  mutation RefundPayment(
    $id: ID!
    $reason: RefundReason!
    $amount: Int
    $metadata: JSON
    $idempotencyKey: String
  ) {
    refundPayment(
      id: $id
      reason: $reason
      amount: $amount
      metadata: $metadata
      idempotencyKey: $idempotencyKey
    ) {
      id
      amount
      status
    }
  }
`);

/** Takes an event of the payment provider. */
export const TakePaymentEvent = graphql(`
  mutation TakePaymentEvent($body: String!, $signature: String!) {
    takePaymentEvent(body: $body, signature: $signature)
  }
`);
