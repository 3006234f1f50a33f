# SPDX-License-Identifier: Apache-2.0
# httpd's own 304 where the 200 does not show it: a filter that passed the file
# on or compressed it names Accept-Encoding in the 200 alone, mod_headers writes
# over ETag and Last-Modified, and conditions are judged by what was there
# before. Two 304s make one that is repeated; all as stock httpd.
use strict;
use warnings;
use Test::More;
use Test::Twin;

my %vhosts = (
    filtered => 'AddOutputFilterByType DEFLATE text/plain',
    brotli => 'AddOutputFilterByType BROTLI_COMPRESS;DEFLATE text/plain',
    set => 'SetOutputFilter DEFLATE',
    notag => "FileETag None\nHeader unset ETag",
    unset => 'Header unset ETag',
    etag => 'Header set ETag "\"other\""',
    modified => 'Header set Last-Modified "Sat, 01 Jan 2000 00:00:00 GMT"',
    nodates => 'Header unset Last-Modified',
    always => "AddOutputFilterByType DEFLATE text/plain\n"
        . "Header always set X-A 1\nHeader set X-B 2\n"
        . 'Header append Vary DNT',
    cors => "AddOutputFilterByType DEFLATE text/plain\nHeader unset Vary",
    alter => "AddOutputFilterByType DEFLATE text/plain\n"
        . 'DeflateAlterETag NoChange',
    remove => "AddOutputFilterByType DEFLATE text/plain\n"
        . 'DeflateAlterETag Remove',
    ranges => 'MaxRanges 5',
);
my $conf = '';
for my $name (sort keys %vhosts) {
    $conf .= "<VirtualHost *:\@PORT\@>\nServerName $name.test\n"
        . "DocumentRoot \@ROOT\@/htdocs\n$vhosts{$name}\n</VirtualHost>\n";
}
my $t = Test::Twin->new(conf => $conf,
    modules => [qw(filter deflate brotli headers)]);
$t->file('a.txt', join '', map "line $_\n", 1 .. 400);
$t->file('b.txt', join '', map "line $_\n", 1 .. 400);
$t->start->settle;

# The file's own validators.
my ($tag) = ($t->ask($t->stock, $t->request('/a.txt')))[0] =~ /^ETag: (.*)\r$/m;
my $date = 'Tue, 14 Nov 2023 22:13:20 GMT';
(my $gzip = $tag) =~ s/"\z/-gzip"/;
(my $br = $tag) =~ s/"\z/-br"/;

sub get {
    my ($host, @fields) = @_;
    return $t->request('/a.txt', "Host: $host.test", @fields);
}

my @conditions = (
    ["If-None-Match: $tag"], ['If-None-Match: *'], ["If-None-Match: $gzip"],
    ["If-None-Match: $br"], ['If-None-Match: "other"'],
    ['If-None-Match: "x", W/' . $tag],
    ["If-Modified-Since: $date"],
    ['If-Modified-Since: Tue, 14 Nov 2023 22:13:19 GMT'],
    ['If-Modified-Since: Sat, 01 Jan 2000 00:00:00 GMT'],
    ["If-None-Match: $tag", "If-Modified-Since: $date"],
    ["If-None-Match: $gzip", "If-Modified-Since: $date"],
    ["If-None-Match: $tag",
        'If-Modified-Since: Sat, 01 Jan 2000 00:00:00 GMT'],
    ["If-None-Match: $tag", 'Range: bytes=0-1'],
    ["If-Modified-Since: $date", 'Range: bytes=0-1'],
    ['Range: bytes=0-1', "If-Range: $tag"],
);

for my $name (sort keys %vhosts) {
    for my $coding ([], ['Accept-Encoding: gzip, deflate, br, zstd']) {
        my $what = "$name @$coding";
        my $plain = get($name, @$coding);
        ok $t->learned($plain), "$what: it is known";
        my $asked = get($name, @$coding,
            $name eq 'notag' ? 'If-None-Match: *' : "If-None-Match: $tag");
        ok $t->learned($asked), "$what: so is its 304";
        my $before = $t->hits;
        $t->same("$what: the 304", [ ($asked) x 3 ]);
        cmp_ok $t->hits - $before, '>=', 2, "$what: from the loop";
        (my $head = $asked) =~ s/^GET/HEAD/;
        $t->same("$what: that of HEAD", [ ($head) x 2 ]);
        $t->same("$what: closing", get($name, @$coding,
                "If-None-Match: $tag", 'Connection: close'));
        $t->same("$what: keep-alive", [ (get($name, @$coding,
                "If-None-Match: $tag", 'Connection: keep-alive')) x 2 ]);
        for my $c (@conditions) {
            $t->same("$what: @$c", [ (get($name, @$coding, @$c)) x 3 ]);
        }
    }
}
is $t->counter('differed'), 0, 'no audit differs';
unlike $t->fixed->log, qr/\(R8\)/, 'httpd judged as the loop would have';
$t->finish;
done_testing;
