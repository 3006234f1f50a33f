# SPDX-License-Identifier: Apache-2.0
# A real browser, headless Chromium: a page with 50 assets, then a reload
# that revalidates them. Run by "make test-browser".
use strict;
use warnings;
use File::Temp qw(tempdir);
use Test::More;
use Test::Httpd;

plan skip_all => 'chromium is not installed' unless -x '/usr/bin/chromium';

my $h = Test::Httpd->new(mpm_conf => "ThreadsPerChild 32\n",
    modules => [qw(headers reqtimeout)], conf => <<'END');
FixedProcesses 2
CPUAffinity auto
FixedStatic on
<Directory "/">
    AllowOverride None
</Directory>
Header set Cache-Control "no-cache"
LogFormat "%>s %U" short
CustomLog logs/access short
<Location "/status">
    SetHandler cpuaffinity-status
</Location>
END

my $list = join ',', map { qq("a$_.js") } 1 .. 50;
$h->write_file("htdocs/a$_.js", "window.got = (window.got || 0) + 1; // $_\n")
    for 1 .. 50;
$h->write_file('htdocs/page.html', <<"END");
<!DOCTYPE html>
<title>assets</title>
<p id="result">waiting</p>
<script>
var left = 50;
function done() {
    if (--left) return;
    var round = +(sessionStorage.getItem('round') || 0) + 1;
    sessionStorage.setItem('round', round);
    if (round < 6) { location.reload(); return; }
    document.getElementById('result').textContent =
        'got ' + window.got + ' in round ' + round;
}
[$list].forEach(function (name) {
    var s = document.createElement('script');
    s.src = name; s.onload = done;
    document.head.appendChild(s);
});
</script>
END
my $old = time - 1000;
utime $old, $old, glob $h->root . '/htdocs/*';
$h->start;

my $runs = 3;    # an answer is learned from two plain ones
my @flags = qw(--headless --no-sandbox --disable-gpu --disable-quic
    --no-first-run --disable-background-networking
    --disable-component-update --disable-sync --virtual-time-budget=60000);
my $url = 'http://127.0.0.1:' . $h->port . '/page.html';
for my $run (1 .. $runs) {
    my $profile = tempdir(CLEANUP => 1);
    my $dom = `timeout 60 chromium @flags --user-data-dir=$profile --dump-dom $url 2>/dev/null`;
    like $dom, qr/got 50 in round 6/, "six rounds of 50 assets, profile $run"
        or diag $dom;
}

open my $log, '<', $h->root . '/logs/access' or die $!;
my %count;
while (<$log>) {
    my ($status, $path) = split;
    $count{$status}++ if $path =~ /^\/a\d+\.js/;
}
is $count{200}, 50 * $runs, 'each asset was sent once per profile';
is $count{304}, 250 * $runs, 'and found unchanged five times';
is join(' ', sort keys %count), '200 304', 'nothing else';
my $hits = 0;
$hits += $_->{loop_hits} for @{ $h->json('/status?json')->{seats} };
cmp_ok $hits, '>', 50, "the loop answered ($hits)";
$h->finish;
done_testing;
