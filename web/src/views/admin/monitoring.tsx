// Where other programs find the server's health and figures, and how Grafana plots recordings: addresses to copy.
import { copyText } from '../../clipboard';
import { adminText } from '../../text/admin';
import { Button } from '../../ui';
import { Table } from './parts';

const t = adminText.monitoring;

export function Monitoring() {
    const rows = t.addresses.map(([path, what]) => ({ url: new URL(path, document.baseURI).href, what }));
    return (
        <>
            <p class="muted">{t.help}</p>
            <Table
                caption={t.title}
                empty=""
                rows={rows}
                columns={[
                    { title: t.address, cell: ({ url }) => <span class="mono">{url}</span> },
                    { title: t.use, cell: ({ what }) => <span class="admin-reason">{what}</span> },
                    {
                        title: '',
                        right: true,
                        cell: ({ url }) => (
                            <Button kind="quiet" icon="copy" label={t.copy(url)} onClick={() => void copyText(url)} />
                        ),
                    },
                ]}
            />
            <h2>{t.grafana}</h2>
            <p>{t.grafanaHelp}</p>
            <h2>{t.prometheus}</h2>
            <p>{t.prometheusHelp}</p>
        </>
    );
}
