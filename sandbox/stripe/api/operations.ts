import {
  createPrice,
  createProduct,
  deleteProduct,
  pricesOf,
  productsOf,
  updatePrice,
  updateProduct,
  type StripeContext,
} from '../objects/catalog.ts';
import { createSession, expireSession, sessionsOf } from '../objects/checkout.ts';
import { ACCOUNT_SETTINGS } from '../objects/defaults.ts';
import { invalid, StripeFailure } from '../objects/failure.ts';
import { booleanIn, integerIn, listIn, metadataIn, textIn, type Form } from '../objects/form.ts';
import { createRefund } from '../objects/money.ts';
import { published, type Kind, type StripeObject } from '../objects/state.ts';

/** The API operations that Kiln uses, with their parameters: unknown ones are refused, as at Stripe. */
export interface OperationScene extends StripeContext {
  readonly form: Form;
  /** The id in the path; empty where there is none. */
  readonly id: string;
  readonly pageOf: (sessionId: string) => string;
  readonly accountId: string;
}

interface Operation {
  readonly takes: readonly string[];
  readonly run: (scene: OperationScene) => StripeObject | readonly StripeObject[];
}

const PAGE = ['limit', 'starting_after', 'ending_before', 'created'];
const PRODUCT = [
  'name',
  'description',
  'active',
  'metadata',
  'images',
  'tax_code',
  'url',
  'statement_descriptor',
];
const SESSION = [
  'mode',
  'line_items',
  'success_url',
  'cancel_url',
  'client_reference_id',
  'metadata',
  'customer_email',
  'payment_intent_data',
  'expires_at',
  'allow_promotion_codes',
  'locale',
  'submit_type',
  'ui_mode',
  'customer_creation',
  'currency',
  'automatic_tax',
  'billing_address_collection',
  'invoice_creation',
  'allowed_payment_method_types',
  'excluded_payment_method_types',
  'payment_method_options',
];

const account: Operation = {
  takes: [],
  run: ({ accountId }) => ({
    id: accountId,
    object: 'account',
    capabilities: {},
    charges_enabled: true,
    country: 'US',
    default_currency: 'usd',
    details_submitted: true,
    email: 'operator@sandbox.example',
    metadata: {},
    payouts_enabled: true,
    settings: ACCOUNT_SETTINGS,
    type: 'standard',
  }),
};

/** Method and path, ids as `*`. */
const operations: Readonly<Record<string, Operation>> = {
  'GET account': account,
  'GET accounts/*': account,
  'POST products': {
    takes: ['id', ...PRODUCT, 'unit_label', 'shippable'],
    run: (scene) => createProduct(scene, scene.form),
  },
  'GET products': { takes: ['active', 'ids', ...PAGE], run: (scene) => productsOf(scene, scene.form) },
  'GET products/*': one('product'),
  'POST products/*': {
    takes: [...PRODUCT, 'default_price', 'unit_label', 'shippable'],
    run: (scene) => updateProduct(scene, scene.id, scene.form),
  },
  'DELETE products/*': { takes: [], run: (scene) => deleteProduct(scene, scene.id) },
  'POST prices': {
    takes: [
      'product',
      'currency',
      'unit_amount',
      'active',
      'metadata',
      'nickname',
      'lookup_key',
      'transfer_lookup_key',
    ],
    run: (scene) => createPrice(scene, scene.form),
  },
  'GET prices': {
    takes: ['active', 'product', 'lookup_keys', 'currency', 'type', ...PAGE],
    run: (scene) => pricesOf(scene, scene.form),
  },
  'GET prices/*': one('price'),
  'POST prices/*': {
    takes: ['active', 'metadata', 'nickname', 'lookup_key', 'transfer_lookup_key'],
    run: (scene) => updatePrice(scene, scene.id, scene.form),
  },
  'POST checkout/sessions': {
    takes: SESSION,
    run: (scene) => createSession(scene, scene.form, scene.pageOf),
  },
  'GET checkout/sessions': {
    takes: ['payment_intent', 'status', ...PAGE],
    run: (scene) => sessionsOf(scene, scene.form),
  },
  'GET checkout/sessions/*': one('checkout.session'),
  'GET checkout/sessions/*/line_items': {
    takes: PAGE,
    run: ({ state, id }) => state.get('checkout.session', id)['_items'] as readonly StripeObject[],
  },
  'POST checkout/sessions/*/expire': { takes: [], run: (scene) => expireSession(scene, scene.id) },
  'GET payment_intents/*': one('payment_intent'),
  'GET charges/*': one('charge'),
  'POST refunds': {
    takes: ['payment_intent', 'charge', 'amount', 'reason', 'metadata', 'instructions_email'],
    run: (scene) => createRefund(scene, scene.form),
  },
  'GET refunds': many('refund', ['payment_intent', 'charge']),
  'GET refunds/*': one('refund'),
  'POST refunds/*': {
    takes: ['metadata'],
    run: ({ state, id, form }) => {
      const refund = state.get('refund', id);
      refund['metadata'] = metadataIn(form, refund['metadata'] as Record<string, string>);
      return refund;
    },
  },
  'GET disputes': many('dispute', ['payment_intent', 'charge']),
  'GET events': {
    takes: ['type', 'types', 'delivery_success', ...PAGE],
    run: ({ state, form }) => eventsOf(state.all('event'), form),
  },
  'GET events/*': one('event'),
};

function one(kind: Kind): Operation {
  return { takes: [], run: ({ state, id }) => state.get(kind, id) };
}

/** Parameters with arbitrary members. */
function many(kind: Kind, members: readonly string[]): Operation {
  return {
    takes: [...members, ...PAGE],
    run: ({ state, form }) =>
      state.all(kind).filter((thing) =>
        members.every((member) => {
          const wanted = textIn(form, member);
          return wanted === undefined || thing[member] === wanted;
        }),
      ),
  };
}

function eventsOf(events: readonly StripeObject[], form: Form): readonly StripeObject[] {
  const [type, types, success] = [
    textIn(form, 'type'),
    listIn(form, 'types'),
    booleanIn(form, 'delivery_success'),
  ];
  const created = (form['created'] ?? {}) as Form;
  const after = typeof created === 'object' ? (integerIn(created, 'gt') ?? 0) : 0;
  return events.filter(
    (event) =>
      (type === undefined || event['type'] === type) &&
      (types.length === 0 || types.includes(String(event['type']))) &&
      (success === undefined || (Number(event['pending_webhooks']) === 0) === success) &&
      Number(event['created']) > after,
  );
}

/** Runs the operation of a method and path. Throws StripeFailure. */
export function runOperation(method: string, path: string, scene: Omit<OperationScene, 'id'>): unknown {
  const parts = path.split('/');
  const at = parts[0] === 'checkout' ? 2 : 1;
  const id = parts[at] ?? '';
  const pattern = parts.map((part, index) => (index === at ? '*' : part)).join('/');
  const operation = operations[`${method} ${pattern}`];
  if (operation === undefined) {
    throw new StripeFailure(404, {
      type: 'invalid_request_error',
      message: `Unrecognized request URL (${method}: /v1/${path}).`,
    });
  }
  const unknown = Object.keys(scene.form).find(
    (name) => name !== 'expand' && !operation.takes.includes(name),
  );
  if (unknown !== undefined)
    throw invalid(`Received unknown parameter: ${unknown}`, unknown, 'parameter_unknown');
  const result = operation.run({ ...scene, id });
  const found = Array.isArray(result)
    ? pageOf(result as readonly StripeObject[], path, scene.form)
    : (result as StripeObject);
  return expanded(scene, found);
}

function pageOf(things: readonly StripeObject[], path: string, form: Form): object {
  const limit = integerIn(form, 'limit') ?? 10;
  if (limit < 1 || limit > 100) {
    throw invalid('This value must be between 1 and 100', 'limit', 'parameter_invalid_integer');
  }
  const after = textIn(form, 'starting_after');
  const rest = after === undefined ? things : things.slice(things.findIndex(({ id }) => id === after) + 1);
  return { object: 'list', url: `/v1/${path}`, has_more: rest.length > limit, data: rest.slice(0, limit) };
}

const KINDS: Readonly<Record<string, Kind>> = {
  payment_intent: 'payment_intent',
  latest_charge: 'charge',
  charge: 'charge',
  product: 'product',
  default_price: 'price',
};

/** A copy with the ids of `expand` replaced by their objects. */
function expanded({ state, form }: Pick<OperationScene, 'state' | 'form'>, found: object): unknown {
  const copy = structuredClone(published(found));
  for (const path of listIn(form, 'expand')) {
    if (typeof path === 'string') expand(copy, path.split('.'));
  }
  return copy;

  function expand(place: unknown, [name, ...rest]: readonly string[]): void {
    if (name === undefined || typeof place !== 'object' || place === null) return;
    if (Array.isArray(place)) return place.forEach((entry) => expand(entry, [name, ...rest]));
    const holder = place as Record<string, unknown>;
    const kind = KINDS[name];
    const id = holder[name];
    if (typeof id === 'string' && kind !== undefined) {
      const thing = state.find(kind, id);
      if (thing !== undefined) holder[name] = structuredClone(published(thing));
    }
    if (Array.isArray(holder[name])) for (const entry of holder[name]) expand(entry, rest);
    else expand(holder[name], rest);
  }
}
