import { describe, expect, it } from 'vitest';

import type { CallContext, Provider } from '../../subgraphs/media/providers/contract/provider.ts';
import { completedStatus } from '../../subgraphs/media/providers/fal/wire.ts';
import { imageRequest, videoRequest } from './contract/row.ts';
import { catchFailure, must } from './environment/environment.ts';
import type { ScriptedResponse } from './environment/recording-proxy.ts';
import { useScriptedProvider } from './environment/use-scripted-provider.ts';

/** How vendors, and servers before them, say that a model is not there, has ended, or is not for a key; and what only sounds like it. */

type Start = (provider: Provider, context: CallContext & { readonly reference: string }) => Promise<unknown>;

const image: Start = async (provider, context) =>
  provider.calls?.IMAGE?.call(imageRequest(), context) ??
  must(provider.jobs?.IMAGE, 'images').start(imageRequest(), context);
const video: Start = async (provider, context) =>
  must(provider.jobs?.VIDEO, 'videos').start(videoRequest(), context);
const chat: Start = async (provider, context) =>
  must(provider.chat, 'chat')(
    { messages: [{ role: 'user', content: 'hello' }], system: null, temperature: null, maxTokens: null },
    context,
  );

const error = (message: string, more: object = {}) => ({ error: { message, ...more } });
const google = (status: string, message: string) => ({ error: { code: 404, status, message } });
const minimax = (status_code: number, status_msg: string) => ({ base_resp: { status_code, status_msg } });
const AVAILABLE = 'Call `/v1/models` to view available models for your key.';

const SAYINGS: readonly (readonly [provider: string, start: Start, status: number, body: object])[] = [
  ['openai', image, 404, error('The model `gpt-image-1` has been deprecated', { code: 'model_not_found' })],
  [
    'openai',
    chat,
    403,
    error('Project `p` does not have access to model `gpt-6`', { code: 'model_not_found' }),
  ],
  ['openai', image, 403, error('Your organization must be verified to use the model `gpt-image-2`.')],
  ['ark', video, 404, error('not activated', { code: 'ModelNotOpen' })],
  ['ark', video, 404, error('no such endpoint', { code: 'InvalidEndpointOrModel.NotFound' })],
  ['ark', video, 403, error('not available', { code: 'OperationDenied.ServiceNotOpen' })],
  ['openai', chat, 400, error('is not supported here', { param: 'model', code: 'invalid_value' })],
  [
    'openai-compatible',
    chat,
    400,
    { error: `/chat/completions: Invalid model name passed in model=a. ${AVAILABLE}` },
  ],
  [
    'openai-compatible',
    chat,
    403,
    error('no', { type: 'key_model_access_denied', param: 'model', code: '403' }),
  ],
  ['openai-compatible', chat, 401, error('no', { type: 'team_model_access_denied', code: '401' })],
  [
    'openai-compatible',
    chat,
    400,
    error('litellm.BadRequestError: You passed in model=a. There is no such name'),
  ],
  ['openai-compatible', chat, 404, { object: 'error', message: 'The model `a` does not exist.', code: 404 }],
  ['openai-compatible', chat, 404, { error: 'model "a" not found, try pulling it first' }],
  ['openai-compatible', chat, 400, error('acme/a is not a valid model ID', { code: 400 })],
  ['openai-compatible', chat, 404, error('No endpoints found for acme/a.', { code: 404 })],
  ['gemini', image, 404, google('NOT_FOUND', 'models/a is not found for API version v1beta')],
  ['gemini', chat, 404, google('NOT_FOUND', 'This model models/a is no longer available to new users.')],
  ['gemini', video, 404, google('NOT_FOUND', 'Requested entity was not found.')],
  ['minimax', video, 200, minimax(2013, "invalid params, unknown model 'a'")],
  ['minimax', video, 200, minimax(2061, 'your current token plan not support model, a')],
  ['kling', video, 404, { code: 1203, message: 'The requested resource does not exist' }],
  ['kling', video, 400, { code: 1201, message: 'model_name value kling-v9 is invalid' }],
  ['replicate', image, 404, { detail: 'The requested resource could not be found.', status: 404 }],
  ['replicate', image, 422, { title: 'Invalid version or not permitted', detail: 'x', status: 422 }],
  ['fal', image, 404, { detail: "Application 'fal-ai/old' not found" }],
];

describe.each([...Map.groupBy(SAYINGS, ([provider]) => provider)])('%s', (name, sayings) => {
  const stage = useScriptedProvider(name);
  const fail = (start: Start, answer: ScriptedResponse) => {
    stage.proxy.respondNext('/', answer);
    return catchFailure(start(stage.provider, stage.context));
  };

  it.each(sayings)('says a model is gone: %s %o %i %j', async (_name, start, status, body) => {
    expect(await fail(start, { status, body })).toMatchObject({
      code: 'MODEL_GONE',
      retryable: false,
      ofBinding: true,
      startUnknown: false,
    });
    expect(stage.proxy.sent).toHaveLength(1);
  });
});

describe.each([
  ['openai', video, error('Unknown request URL: POST /v1/videos', { code: 'unknown_url' })],
  ['openai', image, '<html>404 Not Found</html>'],
  ['gemini', image, '<html>404 Not Found</html>'],
  ['kling', video, 'default backend - 404'],
  ['replicate', image, 'default backend - 404'],
  ['fal', image, 'default backend - 404'],
] as const)('a 404 of %s that is about something else', (name, start, body) => {
  const stage = useScriptedProvider(name);

  it(`is a provider that is away: ${JSON.stringify(body)}`, async () => {
    stage.proxy.respondNext('/', { status: 404, body });
    expect(await catchFailure(start(stage.provider, stage.context))).toMatchObject({
      code: 'UNAVAILABLE',
      retryable: true,
      ofBinding: false,
    });
  });
});

describe('a file that gemini does not have any more', () => {
  const stage = useScriptedProvider('gemini');

  it('is lost, and its model is there', async () => {
    stage.proxy.respondNext('/', { status: 404, body: google('NOT_FOUND', 'File abc was not found.') });
    expect(await catchFailure(chat(stage.provider, stage.context))).toMatchObject({ code: 'LOST' });
  });
});

describe('what a server says of its own', () => {
  const stage = useScriptedProvider('openai-compatible');

  it.each([
    [400, error('No connected db.', { type: 'no_db_connection', code: '400' }), 'UNAVAILABLE', true],
    [400, error('Invalid size for this model', { param: 'size' }), 'INVALID_INPUT', false],
    [400, error('too many tokens for the model'), 'INVALID_INPUT', false],
    [503, error('the model is loading'), 'UNAVAILABLE', false],
  ])('%i %j is %s, of the binding: %s', async (status, body, code, ofBinding) => {
    stage.proxy.respondNext('/', { status, body });
    expect(await catchFailure(chat(stage.provider, stage.context))).toMatchObject({ code, ofBinding });
  });
});

it('a result of fal may say it only when the work has run', () => {
  const json = { detail: { error: 'EndpointDeprecated', message: 'This endpoint is no longer supported.' } };
  expect(completedStatus({ status: 400, headers: {}, json })).toMatchObject({
    state: 'failed',
    error: { code: 'MODEL_GONE' },
  });
});
