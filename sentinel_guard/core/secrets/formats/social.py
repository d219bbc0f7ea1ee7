"""Secret formats of social networks, media and games."""

from __future__ import annotations

from sentinel_guard.core.secrets.formats.base import BASE64, DIGITS, HEX, HEX32, LOWER, URL, assigned, fake, token
from sentinel_guard.core.secrets.model import Format, Grade

META = ("facebook.com", "instagram.com")
TWITTER = ("twitter.com", "x.com")
LINKEDIN = ("linkedin.com",)

FORMATS: tuple[Format, ...] = (
    assigned("facebook-secret", "a Facebook app's secret", "facebook", HEX32, fake(32, HEX), hosts=META),
    assigned("facebook-token", "a Facebook app's token", "facebook fb", r"[0-9]{15,16}(?:\||%7C)[A-Za-z0-9_-]{27,40}",
             f"{fake(15, DIGITS)}|{fake(27, URL)}", words="", needles=("facebook", "fb_", "fb-"), hosts=META),
    token("facebook-page-token", "a Facebook access token", "EAA[A-Za-z0-9]{90,300}", "EAAM" + fake(140), entropy=4.0,
          hosts=META),
    token("instagram-token", "an Instagram token", "IG(?:QV|AA)[A-Za-z0-9_-]{80,300}", "IGQV" + fake(140),
          needles=("igqv", "igaa"), entropy=4.0, hosts=META),
    assigned("twitter-api-key", "a Twitter key", "twitter", "[A-Za-z0-9]{25}", fake(25), hosts=TWITTER, entropy=3.0),
    assigned("twitter-api-secret", "a Twitter secret", "twitter", "[A-Za-z0-9]{50}", fake(50), hosts=TWITTER,
             entropy=3.0),
    assigned("twitter-access-token", "a Twitter access token", "twitter", "[0-9]{15,25}-[A-Za-z0-9]{20,40}",
             f"{fake(18, DIGITS)}-{fake(20)}", hosts=TWITTER),
    assigned("twitter-access-secret", "a Twitter access secret", "twitter", "[A-Za-z0-9]{45}", fake(45), hosts=TWITTER,
             entropy=3.0),
    Format(
        "twitter-bearer-token", "a Twitter bearer token", ("a" * 20,),
        r"(?:^|[^A-Za-z0-9])A{20,24}(?P<value>[A-Za-z0-9%]{80,100})\b", (f"Bearer {'A' * 22}{fake(85)}",),
        ("A" * 120, f"{'A' * 22}{fake(40)}"), 3.5, TWITTER,
    ),
    assigned("linkedin-client-id", "a LinkedIn client id", "linked[_-]?in", "[a-z0-9]{14}", fake(14, LOWER),
             needles=("linkedin", "linked_in", "linked-in"), hosts=LINKEDIN, grade=Grade.WARN),
    assigned("linkedin-secret", "a LinkedIn client secret", "linked[_-]?in", "[a-z0-9]{16}", fake(16, LOWER),
             needles=("linkedin", "linked_in", "linked-in"), hosts=LINKEDIN),
    token("linkedin-new-secret", "a LinkedIn client secret", r"WPL_AP[01]\.[A-Za-z0-9]{16}\.[A-Za-z0-9+/=]{6,12}",
          f"WPL_AP1.{fake(16)}.{fake(8)}", needles=("wpl_ap",), hosts=LINKEDIN),
    assigned("twitch-token", "a Twitch token", "twitch", "(?:oauth:)?[a-z0-9]{30}", fake(30, LOWER),
             hosts=("twitch.tv",)),
    assigned("spotify-secret", "a Spotify secret", "spotify", HEX32, fake(32, HEX), words="secret token key client",
             hosts=("spotify.com",)),
    assigned("flickr-token", "a Flickr key", "flickr", "[a-z0-9]{32}", fake(32, LOWER), hosts=("flickr.com",)),
    assigned("reddit-secret", "a Reddit secret", "reddit", "[A-Za-z0-9_-]{27,30}", fake(27, URL), words="secret",
             entropy=3.5, hosts=("reddit.com",)),
    token("pinterest-token", "a Pinterest token", "pina_[A-Za-z0-9_-]{60,120}", "pina_" + fake(90, LOWER),
          hosts=("pinterest.com",)),
    assigned("tiktok-secret", "a TikTok secret", "tiktok", "[A-Za-z0-9]{32,40}", fake(32), words="secret", entropy=3.2,
             hosts=("tiktok.com", "tiktokapis.com")),
    assigned("vimeo-token", "a Vimeo token", "vimeo", HEX32, fake(32, HEX), words="token secret", hosts=("vimeo.com",)),
    assigned("mux-secret", "a Mux token's secret", "mux", "[A-Za-z0-9+/]{75}", fake(75, BASE64), words="secret",
             hosts=("mux.com",)),
    assigned("lastfm-secret", "a Last.fm key", "lastfm last[_.]fm", HEX32, fake(32, HEX), hosts=("last.fm",)),
    assigned("giphy-key", "a Giphy key", "giphy tenor", "[A-Za-z0-9]{32}", fake(32), words="key", hosts=("giphy.com",),
             entropy=3.2),
    assigned("trakt-secret", "a Trakt or TMDb key", "trakt tmdb themoviedb", "(?:[0-9a-f]{64}|[0-9a-f]{32})",
             fake(32, HEX), hosts=("trakt.tv", "themoviedb.org")),
    token("riot-key", "a Riot Games key", "RGAPI-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
          f"RGAPI-{fake(8, HEX)}-{fake(4, HEX)}-4{fake(3, HEX)}-9{fake(3, HEX)}-{fake(12, HEX)}",
          hosts=("riotgames.com",)),
    assigned("steam-key", "a Steam Web API key", "steam", "[0-9A-F]{32}", fake(32, HEX).upper(), words="key",
             hosts=("steampowered.com",)),
    token("roblox-cookie", "a Roblox session", r"_\|WARNING:-DO-NOT-SHARE-THIS[^|\n]{20,200}\|_[A-F0-9]{100,1000}",
          f"_|WARNING:-DO-NOT-SHARE-THIS.--{'text-' * 10}|_{fake(300, HEX).upper()}", hosts=("roblox.com",),
          needles=("warning:-do-not-share-this",)),
)  # fmt: skip
