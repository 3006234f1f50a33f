# SPDX-License-Identifier: Apache-2.0
# HTTPS with TLS 1.2 and 1.3, keys of both kinds, on kept connections: the
# bytes and the log's lines are stock httpd's, and the loop gives them.
use strict;
use warnings;
use Test::More;
use Test::TLSSite;

plan skip_all => Test::TLSSite::lacks() if Test::TLSSite::lacks();

my $log = '%h %l %u \"%r\" %>s %B %b %X %k %m %U %q %H %v %V %p \"%{Referer}i\"'
    . ' \"%{Content-Type}o\" \"%{ETag}o\" \"%{Content-Length}o\"';
my %body = ('empty.txt' => '', 'small.txt' => 'small', 'page.html' => '<p>' x 500,
    'record.bin' => 'r' x 16384, 'more.bin' => 'm' x 16385,
    'large.bin' => join('', map chr($_ * 7 % 253), 1 .. 300_000));
for my $kind (qw(ec rsa)) {
    my $t = Test::TLSSite::twin(kind => $kind, conf => <<"END");
LogFormat "$log" most
CustomLog logs/most most
END
    $t->file($_, $body{$_}) for sort keys %body;
    $t->start;
    for my $version ('1.2', '1.3') {
        my $of = "TLS $version, $kind";
        my %tls = (tls => { sni => 'a.test', version => $version });
        for my $name (sort keys %body) {
            Test::TLSSite::learns($t, "$of: $name",
                $t->request("/$name", 'Host: a.test'), %tls);
        }
        my @fields = ('Host: a.test', "Referer: $of");
        my @all = map $t->request("/$_", @fields), sort keys %body;
        my ($before, $taken) = ($t->hits, $t->counter('tls_taken'));
        $t->same("$of: one after the other", [ (@all) x 3 ], %tls);
        $t->same("$of: HEAD", [ map s/^GET/HEAD/r, (@all) x 3 ], %tls);
        $t->same("$of: conditional and partial ones", [ @all,
            map $t->request('/page.html', @fields, $_),
            ('If-Modified-Since: Wed, 15 Nov 2023 00:00:00 GMT',
            'If-None-Match: *', 'Range: bytes=5-9', 'Range: bytes=-5',
            'If-Modified-Since: junk') x 2 ], %tls);
        $t->same("$of: HTTP/1.0", [ map s{HTTP/1.1\r\n}
            {HTTP/1.0\r\nConnection: keep-alive\r\n}r, (@all) x 3 ], %tls);
        $t->same("$of: the last one closes", [ @all, $t->request('/small.txt',
            @fields, 'Connection: close') ], %tls);
        Test::TLSSite::same_lines($t, "$of: lines of the log", 'most',
            qr/\Q$of\E/);
      SKIP: {
            skip Test::TLSSite::lacks_loop(), 2 if Test::TLSSite::lacks_loop();
            cmp_ok $t->hits - $before, '>', 40, "$of: the loop answers most";
            cmp_ok $t->counter('tls_taken') - $taken, '>=', 5,
                "$of: it has the connections";
        }
    }
    $t->finish;
}
done_testing;
