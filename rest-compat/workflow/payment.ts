import { AppError, notFound } from '../../platform/errors.ts';
import {
  CancelPayment,
  OpenCheckout,
  PaymentById,
  PaymentsOfUser,
  ReconcilePayment,
  RefundPayment,
  TakePaymentEvent,
  type PaymentFields,
} from '../documents/workflow/payment.ts';
import { WorkflowHealth } from '../documents/workflow/template.ts';
import { done } from '../replies/envelopes.ts';
import { route } from '../route/define-route.ts';
import type { Values } from '../route/param.ts';
import { json, path, query } from '../route/params.ts';
import type { RequestFacts, Section } from '../route/route.ts';
import { pick } from '../schemas/json-schema.ts';
import { sales, paymentData } from './sales.ts';
import { takePage, pageParameters } from './shared/pages.ts';
import { itemSchemas, paymentSchemas } from './shared/response-schemas.ts';
import { failurePage, prefersPage, returnPage } from './shared/return-page.ts';

const optional = { optional: true } as const;
const extension = { optional: true, extension: true } as const;
const body = { type: 'application/json', required: true } as const;
const noStore = { 'Cache-Control': 'no-store' } as const;

/** A browser sees a page, programs the JSON. */
function pageFor(payment: PaymentFields, request: RequestFacts) {
  return prefersPage(request) ? { headers: {}, page: returnPage(paymentData(payment)) } : { headers: {} };
}

/** What the payment provider replaces by its session id; still there when it did not. */
const PLACEHOLDER = '{CHECKOUT_SESSION_ID}';
const returned = { session_id: query.text(optional), payment_id: query.text(optional) } as const;

const returnedNames = { sessionId: 'session_id', id: 'payment_id' } as const;

/** Which payment a browser comes back for: by session, by payment, or by both. Throws BAD_USER_INPUT without either. */
function paymentVariables({ session_id, payment_id: id }: Values<typeof returned>) {
  const sessionId = session_id === PLACEHOLDER ? undefined : session_id;
  if (!sessionId && !id) {
    throw new AppError('BAD_USER_INPUT', 'session_id, payment_id or both are needed', {
      problems: [{ field: 'session_id', message: 'is needed, or payment_id' }],
    });
  }
  return { id: id || null, sessionId: sessionId || null };
}

/** An enum value of the schema, for the document's word. */
function upperCase<Word extends string>(word: Word): Uppercase<Word> {
  return word.toUpperCase() as Uppercase<Word>;
}

/** Payments. */
export const payments: Section = {
  service: 'workflow',
  title: 'Payment (/payment)',
  routes: [
    route(OpenCheckout)({
      method: 'POST',
      path: '/payment/checkout/{templateCode}',
      summary: 'Opens a checkout for one execution of a template.',
      params: {
        templateCode: path.text(),
        userId: json.text(),
        metadata: json.object(optional),
        successUrl: json.text(extension),
        cancelUrl: json.text(extension),
      },
      body,
      fieldNames: { onBehalfOf: 'userId', parameters: 'metadata' },
      variables: ({ metadata, ...request }) => ({ ...request, parameters: metadata ?? {} }),
      dataSchema: paymentSchemas.checkout,
      reply: ({ checkout: { sessionId, url, payment } }) =>
        done('checkout opened', { sessionId, url, paymentId: payment.id }),
    }),
    route(TakePaymentEvent)({
      method: 'POST',
      path: '/payment/webhook',
      summary: 'Receives an event of the payment provider.',
      isSelfAuthenticating: true,
      body: { type: 'raw', required: true },
      requestHeaders: [
        {
          name: 'pp-signature',
          description: "The provider's signature; `stripe-signature` is taken as well.",
        },
      ],
      rateClass: 'status',
      variables: (_, __, { headers, rawBody }) => ({
        body: rawBody.toString('base64'),
        signature: String(headers['pp-signature'] ?? headers['stripe-signature'] ?? ''),
      }),
      reply: () => done('event processed'),
    }),
    route(ReconcilePayment)({
      method: 'GET',
      otherTypes: ['text/html'],
      failurePage,
      path: '/payment/success',
      summary: 'Return address of buyers who paid: updates the payment and returns it.',
      params: returned,
      headers: noStore,
      rateClass: 'status',
      fieldNames: returnedNames,
      variables: paymentVariables,
      dataSchema: paymentSchemas.success,
      reply({ reconcilePayment }) {
        const { id, status, templateCode, executionId, taskId } = paymentData(reconcilePayment);
        const execution = executionId === null ? null : { executionId, taskId };
        return done('success', { payment: { id, status, templateCode }, execution });
      },
      head: ({ reconcilePayment }, { request }) => pageFor(reconcilePayment, request),
    }),
    route(CancelPayment)({
      method: 'GET',
      otherTypes: ['text/html'],
      failurePage,
      path: '/payment/cancel',
      summary: 'Return address of buyers who cancelled: ends the open checkout.',
      params: returned,
      headers: noStore,
      rateClass: 'status',
      fieldNames: returnedNames,
      variables: paymentVariables,
      dataSchema: paymentSchemas.cancelled,
      reply({ cancelPayment }) {
        const { id, status } = paymentData(cancelPayment);
        return done('success', { payment: { id, status } });
      },
      head: ({ cancelPayment }, { request }) => pageFor(cancelPayment, request),
    }),
    route(PaymentsOfUser)({
      method: 'GET',
      path: '/payment/history',
      summary: "Lists a user's payments, newest first.",
      params: { userId: query.text(), ...pageParameters },
      variables: ({ userId }) => ({ userId }),
      dataSchema: paymentSchemas.history,
      reply({ payments: { edges, totalCount } }, { input }) {
        const all = edges.map(({ node }) => pick(itemSchemas.payment, paymentData(node)));
        return done('success', { payments: takePage(all, input), total: totalCount });
      },
    }),
    sales,
    route(RefundPayment)({
      method: 'POST',
      path: '/payment/refund/{paymentId}',
      summary: 'Refunds a payment, in full or in part.',
      params: {
        paymentId: path.text(),
        reason: json.choice(['user_request', 'technical_issue', 'duplicate', 'fraudulent'], optional),
        amount: json.integer(optional),
        metadata: json.object(optional),
      },
      body,
      fieldNames: { id: 'paymentId' },
      variables: ({ paymentId, reason, amount, metadata }) => ({
        id: paymentId,
        reason: upperCase(reason ?? 'user_request'),
        // In the document's words 0 is what is left; in GraphQL it is a mistake.
        amount: amount === 0 ? undefined : amount,
        metadata,
      }),
      dataSchema: paymentSchemas.refund,
      reply: ({ refundPayment: { id, amount, status } }) =>
        done('refund requested', { refundId: id, amount, status }),
    }),
    route(WorkflowHealth)({
      method: 'GET',
      path: '/payment/health',
      summary: 'Returns the health of the service.',
      variables: () => ({}),
      dataSchema: paymentSchemas.health,
      reply: ({ workflowHealth: { time } }) => done('success', { timestamp: time, service: 'payment' }),
    }),
    route(PaymentById)({
      method: 'GET',
      path: '/payment/{paymentId}',
      summary: 'Returns one payment.',
      params: { paymentId: path.text() },
      rateClass: 'status',
      variables: ({ paymentId }) => ({ id: paymentId }),
      dataSchema: paymentSchemas.payment,
      reply({ payment }, { input: { paymentId } }) {
        if (payment === null) throw notFound('payment', paymentId);
        return done('success', pick(paymentSchemas.payment, paymentData(payment)));
      },
    }),
  ],
};
