import { Sales, type SalesPage, type PaymentFields } from '../documents/workflow/payment.ts';
import { done } from '../replies/envelopes.ts';
import { route } from '../route/define-route.ts';
import { query } from '../route/params.ts';
import { pick } from '../schemas/json-schema.ts';
import { toCsv, readTime } from './shared/csv.ts';
import { paymentSchemas, salesSchemas } from './shared/response-schemas.ts';

/** The sales of everybody, for administrators: as JSON, or as a table for a spreadsheet. */

const extension = { optional: true, extension: true } as const;
const STATUSES = ['pending', 'completed', 'failed', 'cancelled', 'refunded'] as const;
const MOST = 1_000;

/** GET /payment/sales. */
export const sales = route(Sales)({
  method: 'GET',
  path: '/payment/sales',
  summary:
    'Lists the payments of everybody, newest first, with totals; as CSV with `format=csv`. The header Link names the next page.',
  extension: true,
  // Without a credential nobody has sales to list, also where everything else is open.
  rule: 'operator',
  otherTypes: ['text/csv'],
  params: {
    status: query.choice(STATUSES, extension),
    templateCode: query.text(extension),
    userId: query.text(extension),
    from: query.text(extension),
    to: query.text(extension),
    limit: query.integer({ ...extension, minimum: 1, maximum: MOST }),
    after: query.text(extension),
    format: query.choice(['json', 'csv'], extension),
  },
  headers: { 'Cache-Control': 'no-store' },
  fieldNames: { createdAfter: 'from', createdBefore: 'to', first: 'limit' },
  variables: ({ status, templateCode, userId, from, to, limit, after }) => ({
    userId,
    filter: {
      ...(status === undefined ? {} : { statuses: [upperCase(status)] }),
      templateCode,
      createdAfter: readTime('from', from),
      createdBefore: readTime('to', to),
    },
    first: limit ?? MOST,
    after,
  }),
  dataSchema: salesSchemas.sales,
  reply: ({ payments }) =>
    done('success', {
      payments: payments.edges.map(({ node }) => pick(paymentSchemas.sale, saleData(node))),
      total: payments.totalCount,
      sums: payments.sums.map(({ status, amountRefunded, ...sum }) => {
        return { ...sum, status: status.toLowerCase(), refundedAmount: amountRefunded };
      }),
    }),
  head: ({ payments }, { input, request, settings }) => ({
    headers: linkTo(payments, { rawQuery: request.rawQuery, publicUrl: settings.publicUrl }),
    ...(input.format === 'csv' ? { page: formatTable(payments), pageType: 'text/csv' as const } : {}),
  }),
});

function upperCase<Word extends string>(word: Word): Uppercase<Word> {
  return word.toUpperCase() as Uppercase<Word>;
}

interface Place {
  readonly rawQuery: string;
  readonly publicUrl: string;
}

/** The next page, as RFC 8288 names it. */
function linkTo({ pageInfo }: SalesPage, { rawQuery, publicUrl }: Place): Readonly<Record<string, string>> {
  if (!pageInfo.hasNextPage || pageInfo.endCursor === null) return {};
  const next = new URLSearchParams(rawQuery);
  next.set('after', pageInfo.endCursor);
  return { Link: `<${publicUrl}/payment/sales?${next.toString()}>; rel="next"` };
}

const COLUMNS = [
  'id',
  'createdAt',
  'status',
  'templateCode',
  'userId',
  'amount',
  'refundedAmount',
  'currency',
  'executionId',
  'cost',
  'margin',
] as const;

type SoldPayment = SalesPage['edges'][number]['node'];

/** A payment with what it leaves; an unknown cost is null, and an empty cell of the table. */
function saleData({ margin, ...payment }: SoldPayment) {
  return {
    ...paymentData(payment),
    cost: margin?.cost ?? null,
    margin: margin?.margin ?? null,
    costEstimated: margin?.estimated ?? null,
  };
}

function formatTable({ edges }: SalesPage): string {
  const rows = edges.map(({ node }) => {
    const sale = saleData(node);
    return COLUMNS.map((name) => sale[name]);
  });
  return toCsv(COLUMNS, rows);
}

/** A payment in the words of the document. */
export function paymentData(payment: PaymentFields) {
  const { amountRefunded: refundedAmount, template } = payment;
  const refunds = payment.refunds.map(({ id: refundId, reason, ...refund }) => {
    return { refundId, reason: reason?.toLowerCase() ?? null, ...refund };
  });
  return {
    ...payment,
    status: payment.status.toLowerCase(),
    templateCode: template.code,
    refundedAmount,
    refunds,
  };
}
