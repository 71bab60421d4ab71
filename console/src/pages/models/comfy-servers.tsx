import type { ProvidersQuery } from '../../api/documents/operations.ts';
import { Figures } from '../../parts/looks/lines.tsx';
import { Card, CardHead } from '../../parts/looks/panels.tsx';
import { FiguresCell, FiguresHead, TableFrame } from '../../parts/looks/table.tsx';
import { Bar } from '../../parts/task/progress.tsx';
import { StateMark } from '../../parts/task/state.tsx';
import { t } from '../../text/text.ts';

type Server = ProvidersQuery['comfyServers'][number];

/** The ComfyUI servers and how busy each is. */
export function ComfyServers({ servers }: { readonly servers: readonly Server[] }) {
  if (servers.length === 0) return null;
  return (
    <Card>
      <CardHead>
        <h2>{t('providers.comfy')}</h2>
        <Figures tone="faint" small>
          {servers.length}
        </Figures>
      </CardHead>
      <TableFrame label={t('providers.comfy')}>
        <table>
          <thead>
            <tr>
              <th>{t('providers.state')}</th>
              <th>{t('providers.address')}</th>
              <th>{t('providers.load')}</th>
              <FiguresHead>{t('providers.running')}</FiguresHead>
              <FiguresHead>{t('providers.waiting')}</FiguresHead>
            </tr>
          </thead>
          <tbody>
            {servers.map((server) => (
              <tr key={`${server.binding} ${server.address}`}>
                <td>
                  <StateMark look={server.up ? 'SUCCEEDED' : 'FAILED'}>
                    {t(server.up ? 'providers.up' : 'providers.down')}
                  </StateMark>
                </td>
                <td className="font-mono [font-size:12px]">{server.address}</td>
                <td>
                  <Load server={server} />
                </td>
                <FiguresCell>{server.running ?? '–'}</FiguresCell>
                <FiguresCell>{server.pending ?? '–'}</FiguresCell>
              </tr>
            ))}
          </tbody>
        </table>
      </TableFrame>
    </Card>
  );
}

function Load({ server: { running, pending, capacity } }: { readonly server: Server }) {
  const most = capacity ?? 0;
  const held = Math.min(most, (running ?? 0) + (pending ?? 0));
  return (
    <Bar
      share={most === 0 ? 0 : (held / most) * 100}
      fill="bg-muted"
      role="img"
      aria-label={t('providers.of', { count: held, most })}
    />
  );
}
