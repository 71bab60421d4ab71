import { openDatabase, type OldProduct } from './database.ts';
import { serve, type OldAnswer, type OldRequest } from './http.ts';
import { createKeys } from './keys.ts';
import { answerMedia } from './media.ts';
import { answerWorkflow } from './workflow.ts';

/**
 * An existing installation, written from the two API documents alone: `main.ts DATABASE_FILE`. A process with a database
 * of its own; prints its addresses and an access token as one line of JSON. For tests it answers GET /calls with all it was asked, and takes
 * the products of its templates at POST /products.
 */
const [file = ':memory:'] = process.argv.slice(2);
const database = openDatabase(file);
const keys = await createKeys();

/** A result: bytes that are a film to nobody. */
const film = { body: Buffer.alloc(2_000, 7), contentType: 'video/mp4' };

/** What storage has at a path: two of its files are gone and empty. */
function result(path: string): OldAnswer | null {
  if (path.endsWith('/gone.mp4')) return null;
  return path.endsWith('/empty.mp4') ? { ...film, body: Buffer.alloc(0) } : film;
}

type Service = (database_: typeof database, request: OldRequest) => OldAnswer | null;

function answerWith(service: Service) {
  return (request: OldRequest): OldAnswer | null => {
    const { method, path, query, authorization } = request;
    if (path === '/calls') return { body: database.calls() };
    if (path === '/jwks') return { body: keys.published };
    if (path === '/products') {
      database.addTemplates(JSON.parse(request.body.toString('utf8')) as readonly OldProduct[]);
      return { body: {} };
    }
    database.addCall(method, query.size === 0 ? path : `${path}?${query.toString()}`, authorization);
    return path.startsWith('/storage/') ? result(path) : service(database, request);
  };
}

const media = await serve(answerWith(answerMedia));
const workflow = await serve(answerWith(answerWorkflow));
process.stdout.write(`${JSON.stringify({ media, workflow, token: await keys.token() })}\n`);
process.once('SIGTERM', () => process.exit(0));
