# SPDX-License-Identifier: Apache-2.0
# A file with a virtual host that is included twice, under other conditions:
# two virtual hosts of one line, of which one has no log of its own. Its lines
# in the main server's log are stock httpd's.
use strict;
use warnings;
use Test::Httpd;
use Test::More;
use Test::Twin;

my $t = Test::Twin->new(conf => <<'END');
SetEnvIf Request_URI "\.(txt)$" kind=$1
CustomLog logs/main "%V %U %{kind}e"
Define NAME a.test
Define OWN
Include @ROOT@/one.conf
UnDefine OWN
Define NAME b.test
Include @ROOT@/one.conf
END
for my $h ($t->both) {
    my ($port, $root) = ($h->port, $h->root);
    $h->write_file('one.conf', <<"END");
<VirtualHost *:$port>
ServerName \${NAME}
DocumentRoot $root/htdocs
<IfDefine OWN>
CustomLog logs/own "%V %U"
</IfDefine>
</VirtualHost>
END
}
$t->start;
for my $host (qw(a.test b.test)) {
    my $r = $t->request('/1k.txt', "Host: $host");
    ok $t->learned($r), "$host: learned" or diag $t->fixed->log;
    $t->same($host, [ $r, $r ]);
}
for my $log (qw(main own)) {
    my @lines = map {
        my %seen = map { $_ => 1 } grep !/ \/cpuaff/,
            Test::Httpd::slurp($_->root . "/logs/$log") =~ /^(.*)\n/mg;
        join "\n", sort keys %seen;
    } $t->both;
    is $lines[1], $lines[0], "the log '$log' is stock httpd's";
    ok $lines[0], '... and has lines';
}
$t->finish;
done_testing;
