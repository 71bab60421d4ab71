/** Addresses of the server that has sent this page; `document.baseURI` is PUBLIC_URL/console/. */
const root = new URL('../', document.baseURI);

/** PUBLIC_URL with a slash at its end. */
export const serverUrl = root.href;
export const graphqlUrl = new URL('graphql', root).href;
export const socketUrl = graphqlUrl.replace(/^http/, 'ws');

/** Path of the console without a slash at its end, for the router. */
export const consolePath = new URL('.', document.baseURI).pathname.replace(/\/$/, '');
