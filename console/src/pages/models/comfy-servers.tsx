import type { ProvidersQuery } from '../../api/documents/operations.ts';
import { StateShape } from '../../parts/task/state.tsx';
import { t } from '../../text/text.ts';

type Server = ProvidersQuery['comfyServers'][number];

/** The ComfyUI servers and how busy each is. */
export function ComfyServers({ servers }: { readonly servers: readonly Server[] }) {
  if (servers.length === 0) return null;
  return (
    <section className="card">
      <header>
        <h2>{t('providers.comfy')}</h2>
        <span className="text-right whitespace-nowrap text-faint text-12 font-normal tabular-nums">
          {servers.length}
        </span>
      </header>
      <div className="scroll" tabIndex={0} role="region" aria-label={t('providers.comfy')}>
        <table>
          <thead>
            <tr>
              <th>{t('providers.state')}</th>
              <th>{t('providers.address')}</th>
              <th>{t('providers.load')}</th>
              <th className="text-right whitespace-nowrap tabular-nums">{t('providers.running')}</th>
              <th className="text-right whitespace-nowrap tabular-nums">{t('providers.waiting')}</th>
            </tr>
          </thead>
          <tbody>
            {servers.map((server) => (
              <tr key={`${server.binding} ${server.address}`}>
                <td>
                  <span className={`st ${server.up ? 'SUCCEEDED' : 'FAILED'}`}>
                    <StateShape state={server.up ? 'SUCCEEDED' : 'FAILED'} />
                    {t(server.up ? 'providers.up' : 'providers.down')}
                  </span>
                </td>
                <td className="font-mono [font-size:12px]">{server.address}</td>
                <td>
                  <Load server={server} />
                </td>
                <td className="text-right whitespace-nowrap tabular-nums">{server.running ?? '–'}</td>
                <td className="text-right whitespace-nowrap tabular-nums">{server.pending ?? '–'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Load({ server: { running, pending, capacity } }: { readonly server: Server }) {
  const most = capacity ?? 0;
  const held = Math.min(most, (running ?? 0) + (pending ?? 0));
  return (
    <div className="bar ok" role="img" aria-label={t('providers.of', { count: held, most })}>
      <i style={{ width: `${most === 0 ? 0 : (held / most) * 100}%` }} />
    </div>
  );
}
