/** An error in Stripe's format: the body under `error`, and the HTTP status. */
export class StripeFailure extends Error {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, body: Readonly<Record<string, unknown>> & { readonly message: string }) {
    super(body.message);
    this.name = 'StripeFailure';
    this.status = status;
    this.body = body;
  }
}

/** An invalid request, with the parameter. */
export function invalid(message: string, param?: string, code?: string): StripeFailure {
  return new StripeFailure(400, {
    type: 'invalid_request_error',
    message,
    ...(param === undefined ? {} : { param }),
    ...(code === undefined ? {} : { code }),
  });
}

/** An unknown id. */
export function missing(kind: string, id: string, param = 'id'): StripeFailure {
  return new StripeFailure(404, {
    type: 'invalid_request_error',
    code: 'resource_missing',
    message: `No such ${kind}: '${id}'`,
    param,
  });
}
