import { operation } from '../../route/route.ts';

/** The GraphQL documents about payments. */

/** A payment, as PaymentAnswer asks for it. */
export interface PaymentAnswer {
  readonly id: string;
  readonly userId: string;
  readonly status: 'PENDING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'REFUNDED';
  /** Minor units. */
  readonly amount: number;
  readonly currency: string;
  readonly ppSessionId: string | null;
  readonly createdAt: string;
  readonly template: { readonly code: string };
  readonly executionId: string | null;
  readonly taskId: string | null;
}

const paymentAnswer = /* GraphQL */ `
  fragment PaymentAnswer on Payment {
    id
    userId
    status
    amount
    currency
    ppSessionId
    createdAt
    template {
      code
    }
    executionId
    taskId
  }
`;

/** Opens a checkout. */
export const OpenCheckout = operation<
  {
    readonly checkout: {
      readonly sessionId: string;
      readonly url: string;
      readonly payment: { readonly id: string };
    };
  },
  { readonly templateCode: string; readonly userId: string; readonly parameters: object }
>(/* GraphQL */ `
  mutation OpenCheckout($templateCode: ID!, $userId: ID!, $parameters: JSON!, $idempotencyKey: String) {
    checkout(
      templateCode: $templateCode
      userId: $userId
      parameters: $parameters
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

/** How a payment is named: by its id, by its session, or by both. */
interface PaymentNamed {
  readonly id: string | null;
  readonly sessionId: string | null;
}

/** What is true of a payment now. */
export const ReconcilePayment = operation<{ readonly reconcilePayment: PaymentAnswer }, PaymentNamed>(
  /* GraphQL */ `
    mutation ReconcilePayment($id: ID, $sessionId: String) {
      reconcilePayment(id: $id, sessionId: $sessionId) {
        ...PaymentAnswer
      }
    }
    ${paymentAnswer}
  `,
);

/** Ends an open checkout. */
export const CancelPayment = operation<{ readonly cancelPayment: PaymentAnswer }, PaymentNamed>(
  /* GraphQL */ `
    mutation CancelPayment($id: ID, $sessionId: String) {
      cancelPayment(id: $id, sessionId: $sessionId) {
        ...PaymentAnswer
      }
    }
    ${paymentAnswer}
  `,
);

/** One payment. */
export const PaymentById = operation<{ readonly payment: PaymentAnswer | null }, { readonly id: string }>(
  /* GraphQL */ `
    query PaymentById($id: ID!) {
      payment(id: $id) {
        ...PaymentAnswer
      }
    }
    ${paymentAnswer}
  `,
);

/** What was bought for a user, newest first. */
export const PaymentsOfUser = operation<
  {
    readonly payments: {
      readonly totalCount: number;
      readonly edges: readonly { readonly node: PaymentAnswer }[];
    };
  },
  { readonly userId: string }
>(/* GraphQL */ `
  query PaymentsOfUser($userId: ID!) {
    payments(userId: $userId, first: 1000) {
      totalCount
      edges {
        node {
          ...PaymentAnswer
        }
      }
    }
  }
  ${paymentAnswer}
`);

/** Gives money back. */
export const RefundPayment = operation<
  { readonly refundPayment: { readonly id: string; readonly amount: number; readonly status: string } },
  {
    readonly id: string;
    readonly reason: string;
    readonly amount: number | null;
    readonly metadata: object | null;
  }
>(/* GraphQL */ `
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
export const TakePaymentEvent = operation<
  { readonly takePaymentEvent: boolean },
  { readonly body: string; readonly signature: string }
>(/* GraphQL */ `
  mutation TakePaymentEvent($body: String!, $signature: String!) {
    takePaymentEvent(body: $body, signature: $signature)
  }
`);
